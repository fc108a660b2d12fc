"""The folder of this file is searched for modules: `loading`, `marking` and `mechanisms` serve every test."""
