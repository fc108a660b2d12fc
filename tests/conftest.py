"""The folder of this file is searched for modules: `loading` and `mechanisms` serve every test."""
