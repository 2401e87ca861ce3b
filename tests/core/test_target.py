"""The target: names of products, versions of CANN and of the adapter."""

import pytest

from npu_config.core.target import Target
from npu_config.core.versions import PRODUCT_NAMES, SNAPSHOTS, Product, parse_cann


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("910", "atlas_training"),
        ("910A", "atlas_training"),
        ("910B", "atlas_a2"),
        ("Ascend910B", "atlas_a2"),
        ("ascend 910b3", "atlas_a2"),
        ("A2", "atlas_a2"),
        ("Atlas 800T A2", "atlas_a2"),
        ("Atlas A2 training series", "atlas_a2"),
        ("Atlas 800 (model 9000)", "atlas_training"),
        ("Ascend910_9391", "atlas_a3"),
        ("300I Duo", "atlas_300i_duo"),
        ("atlas-a3", "atlas_a3"),
        ("950PR", "ascend_950"),
    ],
)
def test_a_product_goes_by_the_name_of_its_chip_or_server(name, product):
    """Case, blanks and marks make no difference."""
    assert Target(product=name).product is Product(product)


@pytest.mark.parametrize("name", ["310P", "Ascend310P3", "Atlas 800", "Atlas 900"])
def test_a_name_of_several_products_is_refused(name):
    """The error names those it may be."""
    with pytest.raises(ValueError, match=r"specify atlas_.* or atlas_"):
        Target(product=name)


@pytest.mark.parametrize("name", ["", "Atlas", "910D", "A4", "atlas_a3x", "310", 3])
def test_an_unknown_product_is_refused(name):
    """The error names the products there are."""
    with pytest.raises(ValueError, match="ascend_950, atlas_a3"):
        Product(name)


def test_each_name_of_a_product_is_read():
    """No name of the table is lost by another that is like it."""
    for name, products in PRODUCT_NAMES.items():
        if len(products) == 1:
            assert products[0] is Product(name)
        else:
            with pytest.raises(ValueError, match="is ambiguous"):
                Product(name)


@pytest.mark.parametrize(
    ("cann", "written", "adapter"),
    [
        ("6.3.RC2", "6.3.RC2", "r1.13.0"),
        ("7.0.0", "7.0.0", "r1.15.0"),
        ("7.0.0.alpha002", "7.0.0.alpha002", "v0.0.18"),
        ("8.0.RC1.alpha003", "8.0.RC1.alpha003", "r1.15.0"),
        ("8.0.RC3", "8.0.RC3", "r1.15.0"),
        ("CANN 8.0", "8.0", "r1.15.0"),
        ("8", "8.0", "r1.15.0"),
        ("5.1", "5.1", "r1.9.0"),
        ("5.1.rc2", "5.1.RC2", "r1.9.0"),
        ("5.1.RC1", "5.1.RC1", "r1.8.0"),
        ("1.0", "1.0", "r1.1.1"),
        ("9.0.0", "9.0.0", "v0.0.48"),
        ("10.0", "10.0", "master-2026-07"),
    ],
)
def test_a_version_of_cann_means_an_adapter(cann, written, adapter):
    """Between two snapshots it is the older one; outside of them the nearest."""
    target = Target(cann=cann)
    assert (written, adapter) == (target.cann, target.snapshot.adapter)
    assert target == Target(cann=written)


@pytest.mark.parametrize(
    "cann", ["eight", "", "8.x", "8.0.RC", "8.0.0-1", "8.0.0.0.0", 8.5, "9" * 9]
)
def test_what_is_not_a_version_is_refused(cann):
    """The error shows the form."""
    with pytest.raises(ValueError, match=r'not a version of CANN; write it like "8\.0\.0"'):
        Target(cann=cann)


@pytest.mark.parametrize(
    ("label", "adapter"),
    [
        ("r1.13.0", "r1.13.0"),
        ("tfa_v0.0.16_7.0.RC1.alpha003", "v0.0.16"),
        ("master", "master-2026-07"),
    ],
)
def test_an_adapter_goes_by_its_label_or_tag(label, adapter):
    """The snapshot of that name."""
    assert adapter == Target(adapter=label).adapter == Target(adapter=label).snapshot.adapter


def test_an_unknown_adapter_is_refused():
    """The error names those there are."""
    with pytest.raises(ValueError, match=r'unknown adapter "r1\.14\.0"; legal: r1\.1\.1, '):
        Target(adapter="r1.14.0")


def test_cann_and_adapter_agree():
    """Both may be given when they mean the same snapshot."""
    assert Target(cann="6.3.RC2", adapter="r1.13.0").snapshot.adapter == "r1.13.0"
    with pytest.raises(ValueError, match=r"CANN 8\.0 has adapter r1\.15\.0 .*, not adapter r1\.8"):
        Target(cann="8.0", adapter="r1.8.0")


def test_no_version_is_any():
    """Without a version there is no snapshot."""
    assert Target().snapshot is None
    assert Target().version is None


def test_each_snapshot_is_its_own():
    """The version that a snapshot carries, and its label, mean just this snapshot."""
    for index, snapshot in enumerate(SNAPSHOTS):
        assert index == Target(adapter=snapshot.adapter).version
        if snapshot.cann is not None:
            assert index == Target(cann=snapshot.cann).version
            assert snapshot.cann == parse_cann(snapshot.cann)[0]
