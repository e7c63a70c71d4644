"""Manifests of CLOC's and CLDatasets' lists. tests/golden/torchsave has files that PyTorch wrote."""

import csv
import os
import pickle
import shutil
import zipfile

import pytest

from pyretain import convert

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/golden/torchsave")
TIMES = [1100000000 + 3 * i for i in range(1200)]
LABELS = [7 * i % 713 for i in range(1200)]
TEXTS = [f"{i % 7}/{i}.jpg\n" for i in range(1200)]


def read(name):
    return list(convert.torch_list(os.path.join(GOLDEN, name), convert.Progress(1)))


def put(path, words=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(words)


def train(root, labels="ints", form="zip"):
    os.makedirs(root, exist_ok=True)
    for name, golden in (("labels", labels), ("time", "times"), ("store_loc", "texts")):
        take(root, f"train_{name}", f"{golden}.{form}")
    return str(root)


def take(root, name, golden):
    shutil.copy(os.path.join(GOLDEN, golden), os.path.join(root, name + ".torchSave"))


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def refused(kind, folder, words, **more):
    with pytest.raises(convert.Refused) as why:
        convert.convert(kind, str(folder), **more)
    assert words in str(why.value)
    assert not [name for name in os.listdir(folder) if "manifest" in name]


@pytest.mark.parametrize("form", ["zip", "old"])
@pytest.mark.parametrize("name, values", [
    ("ints", LABELS), ("times", TIMES), ("long", LABELS), ("texts", TEXTS), ("nothing", []), ("empty", []),
    ("sizes", [0, -1, 255, 256, 65535, 65536, -(2**31), 2**31, -(2**40), 2**62]),
    ("reals", [0.0, -1.5, 1245000000.25]), ("again", [TEXTS[i % 5] for i in range(20)]),
    ("unicode", ["\u00e9/\u4f60.jpg", "", "x" * 300]), ("one", ["only.jpg\n"]), ("int", [1, -2, 3]),
    ("short", [1, -2, 3]), ("bytes", [1, 254, 3]), ("float", [0.5, -2, 3.25]), ("double", [0.5, -2, 3.25]),
    ("slice", [3, 5, 7, 9, 11, 13]), ("column", [0, 1, 2, 3, 4]),
])
def test_what_pytorch_wrote_comes_out_as_it_went_in(name, values, form):
    assert read(f"{name}.{form}") == values


def test_later_protocols():
    assert read("protocol4.zip") == ["a\n", "b\n", "a\n", 3, 2.5]
    assert read("protocol4.old") == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["zip", "old"])
@pytest.mark.parametrize("name, says", [
    ("matrix", "holds a tensor of 2 dimensions, not of one"), ("half", "asks for Python's torch HalfStorage"),
    ("dict", "holds a dictionary, not a list or a tensor"), ("ordered", "not"),
])
def test_what_is_no_list_is_refused(name, says, form):
    with pytest.raises(convert.Refused) as why:
        read(f"{name}.{form}")
    assert says in str(why.value) and f"{name}.{form}: " in str(why.value)


@pytest.mark.parametrize("name, says", [
    ("nested", "item 1: is a list, not a number or a text"), ("none", "item 1: is None"), ("tensors", "item 0: is a tensor"),
    ("texts", "item 0: its label is not a whole number"), ("reals", "item 0: its label is not a whole number"),
])
def test_what_is_no_label_is_named(tmp_path, name, says):
    refused("cloc", train(tmp_path / "r", name), says)


class Evil:
    """Pickled, it makes a file when it is read by pickle.load."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("protocol", [2, 4])
def test_pickles_are_never_run(tmp_path, protocol):
    root, made = train(tmp_path / "r"), str(tmp_path / "made")
    with zipfile.ZipFile(root + "/train_labels.torchSave", "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps([Evil(made)], protocol=protocol))
    refused("cloc", root, "train_labels.torchSave: asks for Python's")
    assert not os.path.exists(made)


@pytest.mark.parametrize("data", [
    b"cbuiltins\neval\n.", b"(ios\nsystem\n.", b"\x82\x01.", b"Pos\n.", b"ctorch\nLongStorage\n)R.",
    b"ctorch\nLongStorage\n}X\4\0\0\0codeX\1\0\0\0xsb.", b"ctorch\nLongStorage\n)\x81.", b"K\1Q.",
    b"ctorch._utils\n_rebuild_tensor_v2\n)R.", b"X\7\0\0\0storage\x85Q.", b"", b"K\1", b"e.", b"\x80\x06.",
    b"X\xff\xff\xff\xffa", b"h\0.",
])
def test_hostile_pickles_are_refused(tmp_path, data):
    path = str(tmp_path / "list")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", data)
    with pytest.raises(convert.Refused, match="list: "):
        convert.torch_list(path, convert.Progress(1))
    assert convert.NAMES["torch", "LongStorage"].code == "q"


@pytest.mark.parametrize("name", ["slice.zip", "slice.old", "one.zip", "one.old", "protocol4.old"])
def test_cut_or_changed_anywhere(tmp_path, name):
    """Cut off it is refused; with a byte changed it is read or refused, and nothing else."""
    path = str(tmp_path / "list")
    with open(os.path.join(GOLDEN, name), "rb") as file:
        data = file.read()
    for i in range(len(data)):
        put(path)
        with open(path, "wb") as file:
            file.write(data[:i])
        with pytest.raises(convert.Refused):
            convert.torch_list(path, convert.Progress(1))
        with open(path, "wb") as file:
            file.write(data[:i] + bytes([data[i] ^ 0x41]) + data[i + 1 :])
        try:
            convert.torch_list(path, convert.Progress(1))
        except convert.Refused:
            pass


@pytest.mark.parametrize("labels, form", [("ints", "zip"), ("ints", "old"), ("long", "zip"), ("long", "old")])
def test_the_stream_of_cloc(tmp_path, labels, form):
    root = train(tmp_path / "r", labels, form)
    put(root + "/images/0/0.jpg")
    made = convert.convert("cloc", root + "/")
    assert (made.columns, made.largest, made.bad) == (["path", "label", "time"], 712, 0)
    assert rows(root + "/manifest.csv") == [
        {"path": f"images/{i % 7}/{i}.jpg", "label": str(LABELS[i]), "time": str(TIMES[i])} for i in range(1200)]


def test_all_parts_and_users_of_cloc(tmp_path):
    root = train(tmp_path / "r")
    for name, golden in (("labels", "long.old"), ("time", "times.old"), ("store_loc", "texts.old")):
        take(root, "cross_val_" + name, golden)
    take(root, "train_userID", "ints.old")
    put(root + "/yfcc100m_val.csv", '\ufeff3,2008-06-01,1212300000.5,12@N00, x/y.jpg \n\n-1,,7,"a,b","z,\u00e9.jpg"\n')
    made = convert.convert("cloc", root)
    found = rows(root + "/manifest.csv")
    assert made.counts == {"train": 1200, "pretrain": 1200, "val": 2} and made.bad == 1
    assert [row["user"] for row in found[:1200]] == list(map(str, LABELS))
    assert found[1201] == {"path": "1/1.jpg", "label": "7", "time": "1100000003", "user": "", "part": "pretrain"}
    assert found[2400] == {"path": "x/y.jpg", "label": "3", "time": "1212300000.500000", "user": "", "part": "val"}
    assert found[2401] == {"path": "z,\u00e9.jpg", "label": "", "time": "7", "user": "", "part": "val"}


def test_users_may_be_names_and_times_may_be_missing(tmp_path):
    root = train(tmp_path / "r")
    os.remove(root + "/train_time.torchSave")
    take(root, "train_userID", "texts.zip")
    convert.convert("cloc", root)
    assert rows(root + "/manifest.csv")[8] == {"path": "1/8.jpg", "label": "56", "user": "1/8.jpg"}


def test_where_images_are(tmp_path, capsys):
    root = train(tmp_path / "r")

    def first():
        convert.convert("cloc", root)
        return rows(root + "/manifest.csv")[0]["path"]
    assert first() == "0/0.jpg"
    assert "has none of" in capsys.readouterr().err
    for folder in ("dataset/images", "images"):
        put(f"{root}/{folder}/0/0.jpg")
        assert first() == folder + "/0/0.jpg"
    out = str(tmp_path / "other" / "list.csv")
    put(out)
    convert.convert("cloc", root, out, root + "/images")
    assert rows(out)[0]["path"] == root + "/images/0/0.jpg"


@pytest.mark.parametrize("words, says", [
    ("1,2,3\n", "a_val.csv, row 1: its columns are not label, date, time, user, path"),
    ("1,,3,u,x.jpg\nx,,3,u,x.jpg\n", "a_val.csv, row 2: its label is not a whole number"),
    ("1.5,,3,u,x.jpg\n", "row 1: its label is not a whole number"),
    ("1,,soon,u,x.jpg\n", "row 1: its time is not a number of seconds"),
    ("1,,nan,u,x.jpg\n", "row 1: its time is not a number of seconds"),
    ("1,,3,u,\n", "row 1: its path is empty"), ('1,,3,"u,x.jpg\n', "row 1: unexpected end of data"),
])
def test_wrong_rows_of_the_csv_file_are_named(tmp_path, words, says):
    root = train(tmp_path / "r")
    put(root + "/a_val.csv", words)
    refused("cloc", root, says)


def test_wrong_lists_are_named(tmp_path):
    root = train(tmp_path / "r")
    for name in ("a", "b"):
        put(f"{root}/{name}_val.csv", "1,,3,u,x.jpg\n")
    refused("cloc", root, "both a_val.csv and b_val.csv could be the photos")
    os.remove(root + "/b_val.csv")
    for name, golden, says in (
            ("labels", "bytes.zip", "r: train has 3 labels for 1200 paths"),
            ("time", "reals.zip", "r: train has 3 times for 1200 paths"),
            ("userID", "bytes.zip", "r: train has 3 users for 1200 paths"),
            ("userID", "reals.zip", "item 0: its user is neither a whole number nor a name"),
            ("store_loc", "ints.zip", "train_store_loc.torchSave, item 0: is a number, not a path")):
        train(root)
        take(root, "train_" + name, golden)
        refused("cloc", root, says)
        if name == "userID":
            os.remove(root + "/train_userID.torchSave")
    train(root)
    put(root + "/train_labels.torchSave", "nothing")
    refused("cloc", root, "train_labels.torchSave: is no file of torch.save")
    with pytest.raises(FileNotFoundError):
        convert.convert("cloc", str(tmp_path / "nowhere"))


def test_the_command(tmp_path, capsys):
    root = train(tmp_path / "r")
    assert convert.main(["cloc", root]) == 0
    assert "1200 train; 713 classes; path, label, time" in capsys.readouterr().out
    assert convert.main(["cloc", root]) == 1
    assert "manifest.csv: is there already; --force writes over it" in capsys.readouterr().err
    assert convert.main(["cloc", root, "--force"]) == 0
    assert convert.main(["cloc", str(tmp_path / "nowhere")]) == 1
    assert "nowhere: No such file" in capsys.readouterr().err


def tree(root, paths, labels):
    h5py = pytest.importorskip("h5py")
    os.makedirs(root + "/order_files", exist_ok=True)
    for name, values in (("image_paths", paths), ("labels", labels)):
        with h5py.File(f"{root}/order_files/train_{name}.hdf5", "w") as file:
            values(file)
    return root


def lists(**how):
    return (lambda file: file.create_dataset("store_list", data=[b"a.jpg\n", b"  b/c.jpg \r\n", b"d.jpg"], **how),
            lambda file: file.create_dataset("store_list", data=[5, 0, 712], **how))


@pytest.mark.parametrize("how", [{}, {"chunks": (2,), "compression": "gzip", "shuffle": True}])
def test_trees_of_cldatasets(tmp_path, how):
    root = tree(str(tmp_path / "t"), *lists(**how))
    put(root + "/data/b/c.jpg")
    made = convert.convert("cldatasets", root)
    assert rows(root + "/manifest.csv") == [
        {"path": f"data/{path}", "label": label} for path, label in (("a.jpg", "5"), ("b/c.jpg", "0"), ("d.jpg", "712"))]
    assert made.largest == 712


def test_texts_of_any_length_columns_and_parts(tmp_path):
    h5py = pytest.importorskip("h5py")
    root = str(tmp_path / "t")
    tree(root, lambda file: file.create_dataset("store_list", data=[["\u00e9.jpg"], ["y"]], dtype=h5py.string_dtype()),
         lambda file: file.create_dataset("store_list", data=[[0], [-1]], dtype=">i2"))
    for name, data in (("test_image_paths", [b"z"]), ("test_labels", [900])):
        with h5py.File(f"{root}/order_files/{name}.hdf5", "w") as file:
            file["store_list"] = data
    assert convert.convert("cldatasets", root).bad == 1
    assert rows(root + "/manifest.csv") == [
        {"path": path, "label": label, "part": part}
        for path, label, part in (("\u00e9.jpg", "0", "train"), ("y", "", "train"), ("z", "900", "test"))]
    os.remove(root + "/manifest.csv")
    os.remove(root + "/order_files/test_labels.hdf5")
    refused("cldatasets", root, "order_files/test_labels.hdf5: there is no such file")


def test_values_in_other_files_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    root, (paths, labels) = str(tmp_path / "t"), lists()
    other = str(tmp_path / "other")
    with h5py.File(other, "w") as file:
        labels(file)

    def link(file):
        file["store_list"] = h5py.ExternalLink(other, "store_list")

    def virtual(file):
        layout = h5py.VirtualLayout(shape=(3,), dtype="i8")
        layout[:] = h5py.VirtualSource(other, "store_list", shape=(3,))
        file.create_virtual_dataset("store_list", layout)

    def external(file):
        file.create_dataset("store_list", shape=(3,), dtype="i8", external=[(other, 0, h5py.h5f.UNLIMITED)])
    for make, says in ((link, "is a link, which is not followed"), (virtual, "in other files"), (external, "in other files")):
        refused("cldatasets", tree(root, paths, make), says)


@pytest.mark.parametrize("values, says", [
    ([0.0, 1, 2], "its dataset store_list holds neither whole numbers nor texts"),
    ([1, 2], "t: train has 2 labels for 3 paths"), ([-1, 1 << 22, (1 << 22) - 1], "none of its 3 labels is from 0"),
    ([[1, 2]] * 3, "store_list is not of one dimension"), ([b"x", b"y", b"z"], "item 0: its label is not a whole number"),
])
def test_wrong_lists_of_cldatasets_are_named(tmp_path, values, says):
    refused("cldatasets", tree(str(tmp_path / "t"), lists()[0],
                               lambda file: file.create_dataset("store_list", data=values)), says)


def test_damaged_hdf5_is_refused(tmp_path):
    root = tree(str(tmp_path / "t"), *lists())
    put(root + "/order_files/train_labels.hdf5", "no HDF5")
    refused("cldatasets", root, "train_labels.hdf5: is no HDF5 file, is damaged")


def test_without_h5py_the_message_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    put(str(tmp_path / "order_files/train_labels.hdf5"))
    refused("cldatasets", tmp_path, "pip install h5py")
