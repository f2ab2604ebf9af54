from graph_metric_learn_reproduction.experiments.published import PUBLISHED, PUBLISHED_SECONDS
from graph_metric_learn_reproduction.experiments.settings import ROWS, TASKS


def test_accuracies_are_those_of_rows_and_tasks_that_are_run():
    rows = {row for table in ROWS.values() for row in table}
    assert {(method, classifier) for _, method, classifier in PUBLISHED} <= rows
    assert {task for task, *_ in PUBLISHED} == set(TASKS)
    assert all(10 < mean < 95 for mean, _ in PUBLISHED.values())
    assert all(std is None or 0 < std < 15 for _, std in PUBLISHED.values())


def test_every_task_has_the_papers_own_numbers():
    for task in TASKS:
        for classifier in ("knn", "svm"):
            assert PUBLISHED[task, "rpw", classifier][1] is not None


def test_a_few_cells_of_the_paper():
    assert PUBLISHED["MUTAG (degree)", "rpw", "knn"] == (90.0, 7.6)
    assert PUBLISHED["IMDB-BINARY (degree)", "fgsd", "knn"] == (69.54, None)
    assert PUBLISHED["Cuneiform (fuse)", "fgw", "svm"] == (76.67, 7.04)
    assert PUBLISHED["ENZYMES (labels)", "pw", "knn"] == (44.83, None)
    assert PUBLISHED["ENZYMES (fuse)", "fgw", "knn"] == (70.83, None)
    assert ("Cuneiform (fuse)", "wwl", "svm") not in PUBLISHED


def test_seconds_are_by_dataset_and_system():
    assert set(PUBLISHED_SECONDS) == {task.dataset for task in TASKS.values()} - {"Cuneiform"}
    assert PUBLISHED_SECONDS["NCI1"] == ("labels", 480, 480, 1500, 23400)
    assert PUBLISHED_SECONDS["MUTAG"].fgw == 30
