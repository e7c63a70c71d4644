"""usage: serve_contestants.py torch|river PORT FLOATS CLASSES

What one would write in place of `retain serve`: FastAPI and uvicorn around PyTorch or River,
with a training step per label and inputs that wait in memory.
"""
import sys
from typing import List, Union

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Input(BaseModel):
    id: Union[int, str, None] = None
    input: List[float]


class Label(BaseModel):
    id: Union[int, str]
    label: int


class Torch:
    def __init__(self, floats, classes):
        import torch
        self.torch = torch
        torch.manual_seed(1)
        torch.set_num_threads(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(floats, 64), torch.nn.ReLU(), torch.nn.Linear(64, classes))
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.025, momentum=0.9)

    def predict(self, values):
        with self.torch.inference_mode():
            shares = self.net(self.torch.tensor([values])).softmax(1)[0]
            best = int(shares.argmax())
            return best, float(shares[best])

    def learn(self, values, label):
        torch = self.torch
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.net(torch.tensor([values])), torch.tensor([label])).backward()
        self.optimizer.step()


class River:
    def __init__(self, floats, classes):
        from river import compose, linear_model, preprocessing
        self.model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.SoftmaxRegression())

    def predict(self, values):
        shares = self.model.predict_proba_one(dict(enumerate(values)))
        best = max(shares, key=shares.get, default=0)
        return best, shares.get(best, 0.0)

    def learn(self, values, label):
        self.model.learn_one(dict(enumerate(values)), label)


kind, port, floats, classes = sys.argv[1], *map(int, sys.argv[2:])
model = {"torch": Torch, "river": River}[kind](floats, classes)
waiting = {}
app = FastAPI()


@app.post("/v1/predict")
async def predict(what: Input):
    best, share = model.predict(what.input)
    if what.id is not None:
        waiting[what.id] = what.input
    return {"id": what.id, "prediction": best, "probability": share}


@app.post("/v1/label")
async def label(what: Label):
    model.learn(waiting.pop(what.id), what.label)
    return {"id": what.id, "label": what.label}


uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
