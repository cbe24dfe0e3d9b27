"""Readers and writers: one module a format, all of them streaming, all of them through ``opening``."""
