"""Pictures as they come: turned, see-through, animated, cut off, enormous, and no pictures at all."""

from __future__ import annotations

import base64
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import numpy
import pytest
from PIL import Image

from entlink.encoders.images import pictures
from entlink.encoders.images.pictures import Pictures, decode
from entlink.encoders.images.preparing import Preparation
from entlink.errors import InputError
from tiny_pictures import picture


def _saved(image: Image.Image, kind: str = "PNG", **settings) -> bytes:
    file = BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def _colour(content: bytes) -> tuple[int, ...]:
    return decode(content).getpixel((0, 0))


def test_a_photo_is_turned_as_the_camera_was_held():
    image = Image.new("RGB", (4, 2), "blue")
    image.putpixel((0, 0), (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112] = 6  # held so that the left edge is the top
    shown = decode(_saved(image, "PNG", exif=exif))
    assert shown.size == (2, 4) and shown.getpixel((1, 0)) == (255, 0, 0)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(mode):
    clear = Image.new("RGBA", (3, 3), (0, 0, 0, 0))
    clear.putpixel((1, 1), (0, 0, 0, 255))
    content = _saved(clear.convert(mode)) if mode != "P" else _saved(clear, "GIF")
    shown = decode(content)
    assert shown.mode == "RGB"
    assert (shown.getpixel((0, 0)), shown.getpixel((1, 1))) == ((255, 255, 255), (0, 0, 0))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_taken(kind):
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((250, 0, 0), (0, 250, 0))]
    content = _saved(frames[0], kind, save_all=True, append_images=frames[1:])
    red, green, blue = _colour(content)
    assert red > 200 and green < 50 and blue < 50


def test_grey_of_sixteen_bits_is_not_made_white():
    deep = Image.fromarray(numpy.full((4, 4), 32768, numpy.uint16))
    assert _colour(_saved(deep)) == (127, 127, 127)


def test_a_name_says_nothing_of_what_a_picture_is(tmp_path):
    (tmp_path / "really-png.jpg").write_bytes(picture(1))
    assert decode(Pictures(tmp_path).read("really-png.jpg")).size == (48, 40)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"just words\n", "no picture that Pillow reads"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a drawing in SVG"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PostScript, which is a program"),
        (picture(1)[:60], "cannot be decoded|no picture"),
        (picture(2, (200, 200), "JPEG")[:-900], "cut off"),
    ],
    ids=["text", "svg", "html", "eps", "header only", "cut off"],
)
def test_what_is_no_picture_is_told(content, told):
    with pytest.raises(InputError, match=told) as caught:
        decode(content, "bee.jpg")
    assert str(caught.value).startswith("bee.jpg: ")


def test_bombs_are_refused_before_they_are_decoded(monkeypatch):
    small = picture(1)  # 48 by 40 pixels
    monkeypatch.setattr(pictures, "MOST_PIXELS", 48 * 40 - 1)
    with pytest.raises(InputError, match="48 by 40 pixels are too many"):
        decode(small)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match="decompression bomb"):
        decode(small)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "folder.jpg").mkdir()
    (tmp_path / "long.jpg").write_bytes(b"x" * 50)
    read = Pictures(tmp_path).read
    for name, told in (("empty.jpg", "empty, 0 bytes"), ("folder.jpg", "this is a folder"), ("gone.jpg", "no such")):
        with pytest.raises(InputError, match=told):
            read(name)
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b.jpg")
    monkeypatch.setattr(pictures, "MOST_BYTES", 40)
    with pytest.raises(InputError, match="50 bytes are too many"):
        read("long.jpg")


def test_a_name_that_no_file_can_have_is_told(tmp_path):
    for name in ("a" * 300 + ".jpg", "a/" * 3000):
        with pytest.raises(InputError, match=r"the picture cannot be read \(File name too long\)"):
            Pictures(tmp_path).read(name)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    for name in ("pipe.jpg", "/dev/zero"):
        with pytest.raises(InputError, match="this is a pipe or a device"):
            Pictures(tmp_path).read(name)


def test_names_as_a_wiki_has_them(tmp_path):
    (tmp_path / "Old_harbour.jpg").write_bytes(b"one")
    (tmp_path / "Flag.png").write_bytes(b"two")
    assert Pictures(tmp_path).read("Old harbour.jpg") == b"one"
    assert Pictures(tmp_path).read("Flag.svg") == b"two"


def test_data_urls():
    content = picture(3)
    assert Pictures().read(f"data:image/png;base64,{base64.b64encode(content).decode()}") == content
    assert Pictures().read("data:,%00%01") == b"\0\1"
    for bad, told in (
        ("data:image/png;base64", "no comma"),
        ("data:;base64,@@@@", "bad base64"),
        ("data:,", "empty"),
    ):
        with pytest.raises(InputError, match=told):
            Pictures().read(bad)


def test_addresses_are_fetched_only_when_asked_and_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"content")

        def log_message(self, *told) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/a.jpg"
    try:
        with pytest.raises(InputError, match=r"none is fetched unasked\. Add --fetch"):
            Pictures().read(address)
        assert asked == []
        assert [Pictures(fetch=True).read(address) for _ in range(2)] == [b"content"] * 2
        assert Pictures().read(address) == b"content"  # it was fetched before
        assert asked == ["/a.jpg"]
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(InputError, match="only http and https"):
        Pictures(fetch=True).read("ftp://example.org/a.jpg")


def test_the_middle_is_cut_out_as_if_the_whole_was_resized():
    image = decode(picture(5, (90, 60)))
    preparation = Preparation(20, 30, mean=(0.0, 0.0, 0.0), deviation=(1.0, 1.0, 1.0))
    found = preparation.prepared(image)
    whole = numpy.asarray(image.resize((45, 30), Image.Resampling.BICUBIC), numpy.float32) / 255
    expected = whole[5:25, 12:32].transpose(2, 0, 1)
    assert found.shape == (3, 20, 20)
    numpy.testing.assert_allclose(found, expected, atol=0.01)


def test_a_large_jpeg_is_decoded_small():
    content = picture(7, (1600, 1200), "JPEG")
    small = decode(content, at_least=200)
    assert small.size < (1600, 1200) and min(small.size) >= 200
    preparation = Preparation(64)
    difference = numpy.abs(preparation.prepared(small) - preparation.prepared(decode(content)))
    assert difference.mean() < 0.02
