from __future__ import annotations

from xml.etree import ElementTree

from entlink.learning.fit.calibration_scores import Bin
from entlink.learning.fit.reliability import reliability_plot

_SVG = "{http://www.w3.org/2000/svg}"


def test_the_plot_is_a_picture_that_says_what_it_shows():
    before, after = [Bin(0.1, 0.5, 0.5), Bin(0.9, 0.6, 0.5)], [Bin(0.5, 0.5, 1.0)]
    root = ElementTree.fromstring(reliability_plot({"before": before, "calibrated": after}))
    assert root.tag == f"{_SVG}svg"
    dots = [float(dot.get("r")) for dot in root.iter(f"{_SVG}circle") if dot.get("fill-opacity")]
    assert len(dots) == 3
    assert max(dots) == dots[2] == 11.0
    texts = [text.text for text in root.iter(f"{_SVG}text")]
    assert "before, ECE 0.350" in texts
    assert "calibrated, ECE 0.000" in texts
    assert "0.60 at 0.90" in root.find(f"{_SVG}desc").text


def test_it_is_the_same_each_time():
    bins = [Bin(0.2, 0.1, 1.0)]
    assert reliability_plot({"one": bins, "two": bins}) == reliability_plot({"one": bins, "two": bins})
