"""REST: topics."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import Field

from recollect.api.auth import Reads, Writes
from recollect.api.bodies import VISIBLE, Body, Empty
from recollect.api.wire import Paged, page, page_of, router
from recollect.capture.topic_edits import TopicView
from recollect.store.topics import TopicRow
from recollect.text.topics import NAME_LIMIT

routes = router("/api", "topics")

Name = Annotated[str, Field(max_length=NAME_LIMIT, pattern=VISIBLE)]


class TopicName(Body):
    name: Name


class OtherTopic(Body):
    """The topic that is merged into the one of the address, by id or name."""

    other: str


class SplitOff(Body):
    """The entries that a new topic takes, and its name."""

    name: Name
    entries: Annotated[list[str], Field(min_length=1)]


@routes.get("/topics", response_model=page_of("topics", TopicRow), summary="List topics, latest mention first")
def list_topics(
    memory: Reads, window: Paged, state: Annotated[Literal["open", "done", "dormant"] | None, Query()] = None
) -> Response:
    found, total = memory.topics.page(state=state, **window.part)
    return page("topics", found, total, window)


@routes.get("/topics/{topic}", summary="Get a topic, by id or name, with its latest entries")
def get_topic(memory: Reads, topic: str) -> TopicView:
    return memory.topics.show(topic)


@routes.post("/topics/{topic}/rename", summary="Call a topic by another name")
def rename_topic(memory: Writes, topic: str, given: TopicName) -> TopicRow:
    return memory.topics.rename(topic, given.name)


@routes.post("/topics/{topic}/merge", summary="Put the entries of another topic under this one")
def merge_topic(memory: Writes, topic: str, given: OtherTopic) -> TopicRow:
    return memory.topics.merge(topic, given.other)


@routes.post("/topics/{topic}/split", summary="Put some entries of a topic under a new one")
def split_topic(memory: Writes, topic: str, given: SplitOff) -> TopicRow:
    return memory.topics.split(topic, given.entries, given.name)


@routes.post("/topics/{topic}/close", summary="Say that a topic is done")
def close_topic(memory: Writes, topic: str, body: Empty) -> TopicRow:
    return memory.topics.close(topic)


@routes.post("/topics/{topic}/open", summary="Say that a topic is not done")
def open_topic(memory: Writes, topic: str, body: Empty) -> TopicRow:
    return memory.topics.open(topic)
