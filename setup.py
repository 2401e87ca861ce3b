"""Package metadata; tool settings are in pyproject.toml."""

import re
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
VERSION = re.search(
    r'^__version__ = "([^"]+)"', (HERE / "npu_config/core/version.py").read_text("utf-8"), re.M
).group(1)

DOCS_URL = re.search(
    r'^DOCS_URL = "([^"]+)"', (HERE / "npu_config/core/diagnostics.py").read_text("utf-8"), re.M
).group(1)

CLI = [
    "click>=8.0",
    "rich>=12.0",
    'tree-sitter>=0.23; python_version >= "3.10"',
    'tree-sitter-bash>=0.23; python_version >= "3.10"',
    'tree-sitter<0.22; python_version < "3.10"',
    'tree-sitter-languages>=1.8; python_version < "3.10"',
]
COMPARE = ["numpy>=1.17"]
LSP = ['pygls>=1.1,<3; python_version >= "3.8"']  # editor/server.py knows versions 1 and 2


class BuildWithCatalogues(build_py):  # type: ignore[misc]
    """Compiles the messages before it copies the package; editable installs do so in place."""

    def run(self) -> None:
        """Compile, then what a build does."""
        for source in HERE.glob("npu_config/locale/*/LC_MESSAGES/*.po"):
            with source.open("rb") as po, source.with_suffix(".mo").open("wb") as mo:
                write_mo(mo, read_po(po, domain=source.stem))
        super().run()


setup(
    name="npu_config",
    version=VERSION,
    description="Typed, validated session configuration for TensorFlow on Huawei Ascend NPUs",
    long_description=(HERE / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    author="the npu_config developers",
    keywords="ascend cann npu tensorflow configuration linter migration",
    url=DOCS_URL,
    project_urls={
        "Documentation": DOCS_URL,
        "Changes": DOCS_URL + "/changes.html",
        "Documentation in Chinese": DOCS_URL + "/zh/index.html",
    },
    packages=find_packages(include=["npu_config", "npu_config.*"]),
    package_data={
        "npu_config": [
            "py.typed",
            "catalogue/*.pyi",
            "dumps/*.js",
            "launch/scripts/*.sh",
            "locale/*.json",
            "locale/*.jsonl",
            "locale/*/LC_MESSAGES/*",
            "logs/*.jsonl",
            "migration/*.yaml",
            "proto/*.binpb",
            "proto/*.proto",
            "tf1/modules.txt",
        ]
    },
    include_package_data=False,  # the list above is whole: folders of data are no packages
    cmdclass={"build_py": BuildWithCatalogues},
    python_requires=">=3.7",
    install_requires=[
        "attrs>=21.3",
        "protobuf>=3.11",
        "PyYAML>=5.4",
        'tomli>=1.1; python_version < "3.11"',
    ],
    extras_require={
        "cli": CLI,
        "compare": COMPARE,
        "lsp": CLI + LSP,
        "all": CLI + COMPARE + LSP,
    },
    entry_points={"console_scripts": ["npu-config = npu_config.__main__:main"]},
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Natural Language :: Chinese (Simplified)",
        "Natural Language :: English",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.7",
        "Programming Language :: Python :: 3.8",
        "Programming Language :: Python :: 3.9",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
