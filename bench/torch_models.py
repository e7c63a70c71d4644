"""The architectures of retain in plain PyTorch: the reference that goldens and
benchmarks compare with.

Runs on PyTorch 1.13 and later and needs no torchvision, but takes its structure
(the stride of a bottleneck sits in its 3x3 convolution) and its parameter names,
whatever the norm is: a norm is called bn1, bn2 or downsample.1 even where it is a
group norm or nothing at all. Convolutions have no bias, the last layer has one.

Norms:
  bn     batch norm, eps 1e-5, momentum 0.1
  gn-ws  group norm (eps 1e-5, see group_count) after weight-standardised
         convolutions (see standardise)
  none   no norm
"""

import torch
from torch import nn
from torch.nn import functional as F

WS_EPS = 1e-5

# Stem: "imagenet" is 7x7 stride 2 and a 3x3 max-pool, "cifar" a 3x3 of stride 1 alone.
RESNETS = {
    # name             block         stem        blocks          widths
    "resnet18":       ("basic",      "imagenet", (2, 2, 2, 2),   (64, 128, 256, 512)),
    "resnet34":       ("basic",      "imagenet", (3, 4, 6, 3),   (64, 128, 256, 512)),
    "resnet50":       ("bottleneck", "imagenet", (3, 4, 6, 3),   (64, 128, 256, 512)),
    "resnet101":      ("bottleneck", "imagenet", (3, 4, 23, 3),  (64, 128, 256, 512)),
    "resnet18-cifar": ("basic",      "cifar",    (2, 2, 2, 2),   (64, 128, 256, 512)),
    "resnet20-cifar": ("basic",      "cifar",    (3, 3, 3),      (16, 32, 64)),
}


def group_count(channels):
    """32 groups; below 64 channels the largest divisor that leaves two channels a group."""
    if channels >= 64:
        return 32
    return max(g for g in range(1, channels // 2 + 1) if channels % g == 0)


def standardise(weight):
    """Every output filter to mean 0 and (unbiased) standard deviation 1."""
    std, mean = torch.std_mean(weight, dim=(1, 2, 3), unbiased=True, keepdim=True)
    return (weight - mean) / (std + WS_EPS)


class StandardisedConv2d(nn.Conv2d):
    def forward(self, x):
        return F.conv2d(x, standardise(self.weight), None, self.stride, self.padding)


class Parts:
    """Makes the convolutions and norms of one norm variant."""

    def __init__(self, norm):
        if norm not in ("bn", "gn-ws", "none"):
            raise ValueError("unknown norm '%s': bn, gn-ws or none" % norm)
        self.variant = norm

    def conv(self, inputs, outputs, size, stride=1):
        kind = StandardisedConv2d if self.variant == "gn-ws" else nn.Conv2d
        return kind(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)

    def norm(self, channels):
        if self.variant == "bn":
            return nn.BatchNorm2d(channels)
        if self.variant == "gn-ws":
            return nn.GroupNorm(group_count(channels), channels)
        return nn.Identity()

    def downsample(self, inputs, outputs, stride):
        if stride == 1 and inputs == outputs:
            return None
        return nn.Sequential(self.conv(inputs, outputs, 1, stride), self.norm(outputs))


class Basic(nn.Module):
    expansion = 1

    def __init__(self, parts, inputs, width, stride):
        super().__init__()
        self.conv1 = parts.conv(inputs, width, 3, stride)
        self.bn1 = parts.norm(width)
        self.conv2 = parts.conv(width, width, 3)
        self.bn2 = parts.norm(width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = parts.downsample(inputs, width, stride)

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, parts, inputs, width, stride):
        super().__init__()
        self.conv1 = parts.conv(inputs, width, 1)
        self.bn1 = parts.norm(width)
        self.conv2 = parts.conv(width, width, 3, stride)
        self.bn2 = parts.norm(width)
        self.conv3 = parts.conv(width, width * self.expansion, 1)
        self.bn3 = parts.norm(width * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = parts.downsample(inputs, width * self.expansion, stride)

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, arch, norm, classes, channels=3):
        super().__init__()
        kind, stem, blocks, widths = RESNETS[arch]
        block = {"basic": Basic, "bottleneck": Bottleneck}[kind]
        parts = Parts(norm)
        if stem == "imagenet":
            self.conv1 = parts.conv(channels, widths[0], 7, 2)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        else:
            self.conv1 = parts.conv(channels, widths[0], 3)
            self.maxpool = nn.Identity()
        self.bn1 = parts.norm(widths[0])
        self.relu = nn.ReLU(inplace=True)
        self.stages = len(widths)
        inputs = widths[0]
        for stage, (count, width) in enumerate(zip(blocks, widths)):
            rows = []
            for i in range(count):
                stride = 2 if stage > 0 and i == 0 else 1
                rows.append(block(parts, inputs, width, stride))
                inputs = width * block.expansion
            setattr(self, "layer%d" % (stage + 1), nn.Sequential(*rows))
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for stage in range(self.stages):
            x = getattr(self, "layer%d" % (stage + 1))(x)
        return self.fc(x.mean(dim=(2, 3)))


class Linear(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        return self.fc(x.flatten(1))


def mlp(widths, inputs, classes):
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, classes))


def build(arch, norm, classes, channels, height=1, width=1):
    """A model for inputs of (channels, height, width); vectors are (channels,)."""
    if arch in RESNETS:
        return ResNet(arch, norm, classes, channels)
    if arch == "linear":
        return Linear(channels * height * width, classes)
    if arch.startswith("mlp:"):
        return mlp([int(w) for w in arch[4:].split(",")], channels * height * width, classes)
    raise ValueError("unknown architecture '%s'" % arch)


def bake_standardisation(model):
    """Replaces weights by their standardised form, once: what inference needs and no more."""
    for module in model.modules():
        if isinstance(module, StandardisedConv2d):
            with torch.no_grad():
                module.weight.copy_(standardise(module.weight))
            module.__class__ = nn.Conv2d
    return model
