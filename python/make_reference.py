#!/usr/bin/env python3
"""usage: python/make_reference.py > docs/reference/python-api.md

Prints the reference of pyretain: its public classes and functions as they are in the
sources, with their docstrings. Nothing is imported, so no package is needed.
"""

import ast
import copy
import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pyretain")
PARTS = (
    ("learner.py", "pyretain", ("Learner", "Step", "Shape", "Metrics")),
    ("model.py", "pyretain", ("Model",)),
    ("client.py", "pyretain", ("Client", "AsyncClient", "Answer", "ServiceError")),
    ("versions.py", "pyretain", None),
    ("classifier.py", "pyretain", ("RetainClassifier",)),
    ("regressor.py", "pyretain", ("RetainRegressor",)),
    ("stream.py", "pyretain", ("RiverClassifier", "RiverRegressor")),
    ("runs.py", "pyretain.runs", None),
    ("torch/learner.py", "pyretain.torch", ("Learner",)),
    ("torch/memory.py", "pyretain.torch", ("Memory", "Batch", "ReplayDataset", "ReplaySampler")),
    ("torch/pictures.py", "pyretain.torch", ("Pictures", "Loaded")),
    ("torch/averages.py", "pyretain.torch", ("AMA", "MALR", "Schedule", "Guide", "Due", "Verdict")),
    ("torch/run.py", "pyretain.torch", ("Run", "Metrics")),
    ("torch/lightning.py", "pyretain.torch.lightning", None),
    ("torch/avalanche.py", "pyretain.torch.avalanche", None),
    ("torch/weights.py", "pyretain.torch", None),
    ("_core.py", "pyretain", ("Progress", "RetainError", "InputError", "StateError", "FileError",
                              "FormatError", "OutOfMemoryError", "StoppedError", "RetainWarning")),
)
HEAD = """# pyretain's reference

Made from the docstrings by `python/make_reference.py`. [python.md](../guide/python.md) shows how to use it. Settings are the keys
of [learner.md](learner.md) with `_` for the dot, as keywords; `pyretain.SETTINGS` and `help(pyretain.Learner)` list them.
"""


def signature(function, method):
    """The arguments, without self and types."""
    arguments = copy.deepcopy(function.args)
    for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        one.annotation = None
    for one in (arguments.vararg, arguments.kwarg):
        if one is not None:
            one.annotation = None
    if method:
        del arguments.args[0]
    return ast.unparse(arguments)


def is_property(function):
    return any(isinstance(by, ast.Name) and by.id == "property" for by in function.decorator_list)


def words(node):
    """The docstring; parameters as scikit-learn's users write them become a list."""
    text, _, listed = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
    if not listed:
        return text
    rows, _, rest = listed.partition("\n\n")
    lines = []
    for row in rows.split("\n"):
        name, _, kind = row.partition(" : ")
        kind = f" ({kind})" if kind else ""
        lines.append(f"  {row.strip()}" if row.startswith(" ") else f"- `{name}`{kind}:")
    return (text + "\n".join(lines) + f"\n\n{rest}").rstrip()


def functions_of(node, classes):
    """Those of a class, then what it has from the package's bases."""
    found = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    for base in node.bases:
        if getattr(base, "id", None) in classes:
            for one in functions_of(classes[base.id], classes):
                found.setdefault(one.name, one)
    return list(found.values())


def show_class(node, module, classes):
    functions = functions_of(node, classes)
    ours = any("__slots__" in ast.unparse(one) for one in node.body)  # made by the package only
    made = next((one for one in functions if one.name == "__init__" and not ours), None)
    heading = f"{module}.{node.name}" + (f"({signature(made, True)})" if made else "")
    print(f"\n## `{heading}`\n\n{words(node)}")
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    if fields:
        print("\nFields: " + ", ".join(f"`{ast.unparse(one.target)}`" for one in fields) + ".")
    for one in functions:
        if one.name.startswith("_") or not words(one):
            continue
        name = one.name if is_property(one) else f"{one.name}({signature(one, True)})"
        print(f"\n**`{name}`**: {words(one)}")


def show_function(node, module):
    print(f"\n## `{module}.{node.name}({signature(node, False)})`\n\n{words(node)}")


def parsed(file):
    with open(os.path.join(HERE, file), encoding="utf-8") as source:
        return ast.parse(source.read()).body


def main():
    print(HEAD, end="")
    tables = parsed("tables.py")  # has the base of scikit-learn's estimators
    for file, module, names in PARTS:
        nodes = parsed(file)
        classes = {one.name: one for one in [*tables, *nodes] if isinstance(one, ast.ClassDef)}
        for node in nodes:
            name = getattr(node, "name", "_")
            if name.startswith("_") or (names is not None and name not in names):
                continue
            if isinstance(node, ast.ClassDef):
                show_class(node, module, classes)
            elif isinstance(node, ast.FunctionDef):
                show_function(node, module)


main()
