"""A fitted GraphMetric as JSON and arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from msgspec.structs import asdict

from ..._core.schema import (
    MANY,
    Count,
    FieldError,
    NonNegative,
    Positive,
    Rows,
    Saved,
    array,
    check_choice,
    dims_of,
    join,
    read,
    split,
    within,
)
from ...embeddings import EMBEDDINGS, restore
from ...features.blocks import BLOCKS, BlocksState, NodeBlocks, parse_name
from ...features.edge_reading import EdgeReading
from ...graphs import Columns, Graphs
from ...graphs.gaps import NodeMeans
from ...linalg.multisets import MinSums
from ...objectives import OBJECTIVES, resolve_objective
from ...objectives.scoring import SCORERS
from ..base import CommonParams
from .coordinates import Coordinates
from .estimate import Estimate
from .families import KNOTS, Family, LinearFamily, MultisetFamily, Points, VectorFamily, WholeFamily, family_of
from .learned import Learned
from .mixture import Describer, Mixture, read_by
from .recipes import FAMILIES, Recipe
from .resuming import ResumeState, resume_state, resumed
from .width import ALL_HASHES, Width, most_coordinates

if TYPE_CHECKING:
    from .estimator import GraphMetric

_ROUNDING = 1e-6  # by which weights may miss a sum of 1


class Params(CommonParams, kw_only=True):
    """Options of a GraphMetric."""

    features: Literal["auto"] | Annotated[list[str], Meta(min_length=1)]
    embedding: str
    learn: bool
    families: Literal["auto"] | Annotated[list[str], Meta(min_length=1)]
    n_landmarks: Literal["auto"] | Annotated[int, Meta(ge=10, le=10**9)]
    scoring: str
    class_weight: Literal["auto", "balanced"] | None = None
    task: str
    n_components: Literal["auto"] | Count | None = None
    graph_attribute: str | list[str] | None = None
    missing: Literal["error", "mean"]
    device: str
    estimate: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("embedding", self.embedding, ["auto", *EMBEDDINGS])
        check_choice("task", self.task, ["auto", *OBJECTIVES])
        check_choice("scoring", self.scoring, SCORERS)
        for name in [] if isinstance(self.features, str) else self.features:
            parse_name(name, "features")
        for name in [] if isinstance(self.families, str) else self.families:
            check_choice("families", name, FAMILIES)


class SavedCounts(Saved, tag="counts", tag_field="kind"):
    """The landmarks of a multiset family: an inverted index, see :class:`MinSums`."""

    vocabulary: Annotated[np.ndarray, array("V", "u")]
    levels: Annotated[np.ndarray, array("L", "i", least=0)]
    postings: Annotated[np.ndarray, array("P", "i", least=0)]
    reference: Annotated[np.ndarray, array("E", "u")]
    count: Annotated[np.ndarray, array("E", least=1.0, most=MANY)]

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, starts, end in (
            ("levels", self.levels, len(self.vocabulary)), ("postings", self.postings, len(self.reference))
        ):  # fmt: skip
            if len(starts) < 2 or starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
                raise FieldError(name, f"do not ascend from 0 to {end}")
        if len(self.postings) != len(self.vocabulary) + 1 or (np.diff(self.postings) == 0).any():
            raise FieldError("postings", "must have an entry for each name, and one more")
        level = np.repeat(np.arange(len(self.levels) - 1), np.diff(self.levels))
        if (self.vocabulary[1:] <= self.vocabulary[:-1])[np.diff(level) == 0].any():
            raise FieldError("vocabulary", "must ascend within each level")
        place = np.repeat(np.arange(len(self.vocabulary)), np.diff(self.postings))
        if (self.reference[1:] <= self.reference[:-1])[np.diff(place) == 0].any():
            raise FieldError("reference", "must ascend for each name")

    @classmethod
    def of(cls, sums: MinSums) -> SavedCounts:
        """Of an index."""
        return cls(sums.vocabulary, sums.levels, sums.postings, sums.reference, sums.count)

    def sums(self, n_references: int, n_levels: int) -> MinSums:
        """The index of so many references and levels."""
        if len(self.levels) != n_levels + 1:
            raise FieldError("levels", f"has {len(self.levels)} entries for {n_levels} levels")
        if self.reference.max(initial=0) >= n_references:
            raise FieldError("reference", f"holds {self.reference.max()}, but there are {n_references} landmarks")
        times = np.diff(self.postings)
        level = np.repeat(np.repeat(np.arange(n_levels), np.diff(self.levels)), times)
        name, reference = np.repeat(self.vocabulary.astype(np.uint64), times), self.reference.astype(np.int64)
        return MinSums(reference, name, self.count, level, n_references=n_references, n_levels=n_levels)


class SavedSet(Saved):
    """A set of blocks of a vector family, and the vectors of the landmarks by it."""

    options: dict[str, Any]  # of the embedding
    fitted: dict[str, np.ndarray]  # what it has learned
    scale: Positive
    vectors: Annotated[Rows, array("m D")]
    basis: Annotated[np.ndarray, array("Q q")] | None = None


class SavedPoints(Saved, tag="points", tag_field="kind"):
    """The landmarks of a vector family."""

    sets: Annotated[list[SavedSet], Meta(min_length=1)]


class SavedWhole(Saved, tag="whole", tag_field="kind"):
    """The landmarks of a family of vectors of whole graphs."""

    knots: Annotated[np.ndarray, array("q K")]
    scale: Positive
    points: Annotated[np.ndarray, array("m w")]


class SavedLinear(Saved, tag="linear", tag_field="kind"):
    """The landmarks of a family of counts that are multiplied."""

    vocabulary: Annotated[np.ndarray, array("V", "u")]
    centre: Annotated[np.ndarray, array("V")]
    scale: Positive
    points: Annotated[np.ndarray, array("m V")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.vocabulary) == 0 or (self.vocabulary[1:] <= self.vocabulary[:-1]).any():
            raise FieldError("vocabulary", "must ascend, with one name or more")


class FamilyState(Saved):
    """What files hold of a family."""

    recipe: Recipe
    weight: Positive
    landmarks: SavedCounts | SavedPoints | SavedWhole | SavedLinear

    @classmethod
    def of(cls, family: Family, weight: float) -> FamilyState:
        """Of a family with references."""
        if isinstance(family, LinearFamily):
            saved = SavedLinear(family.vocabulary, family.centre, family.scale, family.points.sets[0])
            return cls(family.recipe, weight, saved)
        if isinstance(family, MultisetFamily):
            return cls(family.recipe, weight, SavedCounts.of(family.sums))
        if isinstance(family, WholeFamily):
            return cls(family.recipe, weight, SavedWhole(family.knots, family.scale, family.points.sets[0]))
        assert isinstance(family, VectorFamily)
        parts = zip(family.embeddings, family.scales.tolist(), family.points.sets, family.bases, strict=True)
        sets = [SavedSet(one.options(), one.arrays(), scale, rows, basis) for one, scale, rows, basis in parts]
        return cls(family.recipe, weight, SavedPoints(sets))

    def family(self, name: str, blocks: NodeBlocks | None, n_landmarks: int) -> Family:
        """The family on these blocks, with so many references."""
        recipe = self.recipe
        family: Any = family_of(name, recipe)
        for one in [] if recipe.cloud in ("pairs", "graphs") else recipe.names:
            check_choice("recipe.sets", one, [] if blocks is None else blocks.names_)
        saved = self.landmarks
        homes = {
            MultisetFamily: SavedCounts,
            VectorFamily: SavedPoints,
            WholeFamily: SavedWhole,
            LinearFamily: SavedLinear,
        }
        if type(saved) is not homes[type(family)]:
            raise FieldError("landmarks", f"do not go with {recipe.embedding!r}")
        with within("landmarks"):
            if isinstance(saved, SavedCounts):
                family.sums = saved.sums(n_landmarks, len(recipe.names))
            elif isinstance(saved, SavedLinear):
                dims_of(saved, m=n_landmarks)
                family.vocabulary, family.centre, family.scale = saved.vocabulary, saved.centre, saved.scale
                family.points = Points([saved.points])
            elif isinstance(saved, SavedWhole):
                dims_of(saved, m=n_landmarks, w=2 * len(saved.knots), K=KNOTS)
                if (np.diff(saved.knots, axis=1) < 0).any():
                    raise FieldError("knots", "must ascend in each row")
                family.knots, family.scale, family.points = saved.knots, saved.scale, Points([saved.points])
            else:
                assert blocks is not None
                _restore_points(family, saved, blocks, n_landmarks)
        return family


def _restore_points(family: VectorFamily, saved: SavedPoints, blocks: NodeBlocks, n_landmarks: int) -> None:
    """Embeddings, scales and references of a family."""
    if len(saved.sets) != len(family.recipe.sets):
        raise FieldError("sets", f"are {len(saved.sets)} for {len(family.recipe.sets)} sets of blocks")
    family.embeddings, family.bases, family.columns = [], [], []
    for i, (one, names) in enumerate(zip(saved.sets, family.recipe.sets, strict=True)):
        with within(f"sets.{i}"):
            columns = sum(blocks.columns(name) for name in names)
            dims_of(one, Q=columns)
            if one.basis is not None and EMBEDDINGS[family.recipe.embedding].takes_columns:
                raise FieldError("basis", "is for points in space, not for names")
            columns = columns if one.basis is None else one.basis.shape[1]
            with within("embedding"):
                embedding = restore(family.recipe.embedding, one.options, one.fitted, columns)
            if hasattr(embedding, "vocabulary") == isinstance(one.vectors, np.ndarray):
                raise FieldError("vectors", "must be sparse where names are counted, and only there")
            dims_of(one, D=embedding.width(columns), m=n_landmarks)
        family.embeddings.append(embedding)
        family.bases.append(one.basis)
        family.columns.append(columns)
    family.scales = np.array([one.scale for one in saved.sets])
    family.points = Points([one.vectors for one in saved.sets])


class MetricState(Saved, kw_only=True):
    """What files hold of a GraphMetric."""

    params: Params
    task: str
    objective: Any
    label_columns: list[bool]
    labelled: bool
    edge_reading: EdgeReading
    columns: Columns
    node_means: NodeMeans
    blocks: BlocksState | None = None
    families: Annotated[dict[str, FamilyState], Meta(min_length=1)]
    coordinates: Coordinates
    learned: Learned | None = None
    width: Width | None = None
    estimate: Estimate | None = None
    resume: ResumeState | None = None
    seconds: NonNegative

    def __post_init__(self) -> None:
        check_choice("task", self.task, ["auto", *OBJECTIVES])
        total = sum(family.weight for family in self.families.values())
        if abs(total - 1) > _ROUNDING:
            raise FieldError("families", f"have weights that add up to {total:g}, not 1")
        with within("learned"):
            if self.learned is not None:
                dims_of(self.learned, m=len(self.coordinates.centre))
        n_components, placed = self.params.n_components, self.coordinates
        most = most_coordinates(n_components)
        width = placed.width + (0 if self.learned is None else self.learned.width)
        if placed.n_hashes > ALL_HASHES if n_components is None else width > most:
            raise FieldError("coordinates", f"are more than there can be with n_components={n_components!r}")


def fitted_state(metric: GraphMetric, *, resumable: bool = False) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = {**metric.get_params(deep=False), "random_state": metric.seed_, "device": str(metric.device)}
    for name in ("features", "families"):
        params[name] = params[name] if isinstance(params[name], str) else list(params[name])
    mixture = metric.mixture_
    families = mixture.describer.families
    return split(
        {
            "params": params,
            "task": metric.task_,
            "objective": metric.objective_.state(),
            "label_columns": metric.label_columns_.tolist(),
            "labelled": metric.labelled_,
            "edge_reading": metric.edge_reading_,
            "columns": metric.columns_,
            "node_means": metric.node_means_,
            "blocks": None if mixture.describer.blocks is None else mixture.describer.blocks.saved(),
            "families": {name: FamilyState.of(families[name], weight) for name, weight in mixture.weights.items()},
            "coordinates": metric.coordinates_,
            "learned": metric.learned_,
            "width": metric.width_,
            "estimate": metric.estimate_,
            "resume": resume_state(metric) if resumable else None,
            "seconds": metric.seconds_,
        }
    )


def restored(home: type[GraphMetric], config: Any, tensors: dict[str, np.ndarray]) -> GraphMetric:
    """The metric that `fitted_state` came from, or a :class:`FieldError`."""
    saved = read(MetricState, join(config, tensors))
    metric = home(**asdict(saved.params))
    metric.seed_ = saved.params.random_state
    metric.objective_ = resolve_objective(saved.task)
    metric.objective_.set_state(saved.objective)
    metric.label_columns_, metric.labelled_ = np.array(saved.label_columns, dtype=bool), saved.labelled
    metric.edge_reading_, metric.directed_ = saved.edge_reading, saved.edge_reading.directed
    metric.columns_, metric.node_means_, metric.coordinates_ = saved.columns, saved.node_means, saved.coordinates
    blocks = None
    if saved.blocks is not None:
        with within("blocks"):
            blocks = NodeBlocks.of(saved.blocks)
        _check_edges_are_read(blocks, metric.edge_reading_)
    families, weights = {}, {}
    for name, one in saved.families.items():
        with within(f"families.{name}"):
            families[name] = one.family(name, blocks, len(saved.coordinates.centre))
            _check_vectors_are_read(families[name], saved.columns)
        weights[name] = one.weight
    if blocks is not None and set(blocks.names_) != set(read_by(families)):
        raise FieldError("blocks.names", "are not those that the families read")
    metric.mixture_ = Mixture(Describer(blocks, families), weights)
    if saved.learned is not None:
        with within("learned"):
            dims_of(saved.learned, T=metric.objective_.n_outputs())
    metric.learned_, metric.width_, metric.estimate_ = saved.learned, saved.width, saved.estimate
    metric.seconds_ = saved.seconds
    if saved.resume is not None:
        with within("resume"):
            metric._resume = resumed(metric, saved.resume)
    return metric


def _check_vectors_are_read(family: Family, columns: Columns) -> None:
    """A :class:`FieldError` where a family needs other vectors of whole graphs than are read."""
    named = 0 if columns.graphs is None else len(columns.graphs)
    if isinstance(family, WholeFamily) and len(family.knots) != named:
        raise FieldError("landmarks.knots", f"are those of {len(family.knots)} columns, but columns.graphs has {named}")


def _check_edges_are_read(blocks: NodeBlocks, reading: EdgeReading) -> None:
    """A :class:`FieldError` where blocks need what edges carry, and nothing of it is read."""
    bare = Graphs(np.ones(1, dtype=np.int64), np.zeros((2, 0), dtype=np.int64))
    for name in blocks.names_:
        kind = BLOCKS[parse_name(name).kind]
        if kind.needs_edges and kind.lacks(bare) is not None and not reading.carries:
            raise FieldError("edge_reading", f"reads nothing that edges carry, but block {name!r} needs it")
