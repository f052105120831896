"""Files: opened, unpacked, read by line, written whole or not at all; what was bad in them; how far one is."""
