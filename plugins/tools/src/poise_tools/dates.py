"""Dates and moments in a text, relative to today; a date with two readings is left out."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta

from poise_tools.readings import Reading, Span, overlaps
from poise_tools.words import vocabulary

_MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
_DAYS = {
    name.lower(): number
    for names in (calendar.day_name, calendar.day_abbr)
    for number, name in enumerate(names)
} | {"tues": 1, "thur": 3, "thurs": 3}
_COUNTS = {
    word: number
    for number, word in enumerate(
        vocabulary("a two three four five six seven eight nine ten"), start=1
    )
} | {"one": 1, "an": 1}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY_NAME = "|".join(sorted(calendar.day_name, key=len, reverse=True)).lower()
_COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"

_ISO = re.compile(r"(?<![\d/.-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d/.-]\d|\d)")
_SLASHED = re.compile(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/-]|\.\d)")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]({_MONTH})\b\.?(?:,?[ -](\d{{4}}))?(?!\d)", re.I
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?(?![\d:]|\.\d)", re.I
)
_NAMED = re.compile(r"\b(day after tomorrow|day before yesterday|today|tomorrow|yesterday)\b", re.I)
_AHEAD = re.compile(rf"\bin ({_COUNT}) (days?|weeks?)\b", re.I)
_AGO = re.compile(rf"\b({_COUNT}) (days?|weeks?) ago\b", re.I)
_WEEKDAY = re.compile(rf"\b(?:(next|this|last|on|coming)\s+)?({_DAY_NAME})\b", re.I)

_DAY_ALONE = re.compile(r"\bthe (\d{1,2})(?:st|nd|rd|th)\b(?! of)", re.I)

_NAMED_DAYS = {
    "day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
_CLOCK = re.compile(
    r"(?<![\d:])(?:(\d{1,2}):(\d{2})(?::\d{2})?\s?(am|pm)?|(\d{1,2})\s?(am|pm))\b|\b(noon)\b",
    re.I,
)
_ISO_MOMENT = re.compile(
    r"(?<!\d)\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?(?!\d)"
)
_HALF_YEAR = timedelta(days=183)


def dates(text: str, today: date) -> tuple[tuple[Reading, ...], tuple[Span, ...]]:
    """Return the dates of `text`, in order, and every place that looks like one, read or not.

    `next friday` is the first Friday after today. A day without a year is the coming one where
    that is nearer than the last one; else it is doubtful, as a day of no month (`the 15th`) is.
    `03/04/2026` is two dates, so none.
    """
    found: list[Reading] = []
    places: list[Span] = []
    for span, value, doubtful in _candidates(text, today):
        if overlaps(span, places):
            continue
        places.append(span)
        if value is not None:
            found.append(Reading(value.isoformat(), *span, doubtful=doubtful))
    for match in _DAY_ALONE.finditer(text):
        if not overlaps(match.span(), places):
            # Beside another date its month may be the other's: `from the 10th to the 20th of May`.
            coming = None if places else _coming_day(int(match[1]), today)
            if coming is not None:
                found.append(Reading(coming.isoformat(), *match.span(), doubtful=True))
            places.append(match.span())
    return tuple(sorted(found, key=lambda each: each.start)), tuple(places)


def moments(text: str, now: datetime) -> tuple[Reading, ...]:
    """Return the moments of `text`: a date with a time of day, in the time zone of `now`."""
    found: list[Reading] = []
    for match in _ISO_MOMENT.finditer(text):
        try:
            moment = datetime.fromisoformat(match[0])
        except ValueError:
            continue
        aware = moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
        found.append(Reading(aware.isoformat(), *match.span(), decisive=True))
    taken = [reading.span for reading in found]
    days, _ = dates(text, now.date())
    clocks = [each for each in _clocks(text) if not overlaps(each[0], taken)]
    for day in days:
        if overlaps(day.span, taken):
            continue
        for span, clock in clocks:
            between = text[min(day.end, span[1]) : max(day.start, span[0])]
            if re.fullmatch(r",?\s*(?:at|around|by|on)?\s*", between):
                moment = datetime.combine(date.fromisoformat(day.value), clock, now.tzinfo)
                found.append(
                    Reading(
                        moment.isoformat(),
                        min(day.start, span[0]),
                        max(day.end, span[1]),
                        doubtful=day.doubtful,
                    )
                )
    return tuple(sorted(found, key=lambda each: each.start))


def clock_places(text: str) -> tuple[Span, ...]:
    """Return where `text` names a time of day, so that its digits count as nothing else."""
    return tuple(span for span, _ in _clocks(text))


Found = tuple[Span, date | None, bool]


def _candidates(text: str, today: date) -> Iterator[Found]:
    """Yield what looks like a date, the most explicit forms first."""
    for match in _ISO.finditer(text):
        yield match.span(), _day(match[1], match[2], match[3]), False
    for match in _SLASHED.finditer(text):
        yield match.span(), _slashed(match), False
    for match in _DAY_MONTH.finditer(text):
        yield _in_year(match.span(), match[3], _MONTHS[match[2].lower()], match[1], today)
    for match in _MONTH_DAY.finditer(text):
        yield _in_year(match.span(), match[3], _MONTHS[match[1].lower()], match[2], today)
    for match in _NAMED.finditer(text):
        days = _NAMED_DAYS[match[1].lower()]
        yield match.span(), today + timedelta(days=days), False
    for pattern, sign in ((_AHEAD, 1), (_AGO, -1)):
        for match in pattern.finditer(text):
            yield match.span(), today + sign * _length(match[1], match[2]), False
    for match in _WEEKDAY.finditer(text):
        yield match.span(), _weekday(match[1], match[2], today), False


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _slashed(match: re.Match[str]) -> date | None:
    first, separator, second, year = match[1], match[2], match[3], match[4]
    full = year if len(year) == 4 else f"20{year}"
    as_day_first = _day(full, second, first)
    if separator == ".":
        return as_day_first  # nobody writes points with the month first
    as_month_first = _day(full, first, second)
    if as_day_first and as_month_first and as_day_first != as_month_first:
        return None
    return as_day_first or as_month_first


def _in_year(span: Span, year: str | None, month: int, day: str, today: date) -> Found:
    if year is not None:
        return span, _day(year, str(month), day), False
    years = range(today.year - 1, today.year + 9)  # 29 February comes every fourth or eighth
    known = [each for each in (_day(str(year), str(month), day) for year in years) if each]
    coming = next((each for each in known if each >= today), None)
    return span, coming, coming is not None and coming - today > _HALF_YEAR


def _coming_day(day: int, today: date) -> date | None:
    if not 1 <= day <= 31:
        return None
    months = [divmod(today.year * 12 + today.month - 1 + ahead, 12) for ahead in range(13)]
    known = (_day(str(year), str(month + 1), str(day)) for year, month in months)
    return next((each for each in known if each is not None and each >= today), None)


def _length(count: str, unit: str) -> timedelta:
    number = int(count) if count.isdigit() else _COUNTS[count.lower()]
    return timedelta(days=number * (7 if unit.lower().startswith("week") else 1))


def _weekday(lead: str | None, name: str, today: date) -> date | None:
    ahead = (_DAYS[name.lower()] - today.weekday()) % 7
    word = (lead or "").lower()
    if word == "last":
        return today - timedelta(days=7 - ahead if ahead else 7)
    if word in ("next", "coming"):
        return today + timedelta(days=ahead or 7)
    # Said on the day itself, a bare weekday may mean today or in a week.
    return today + timedelta(days=ahead) if ahead else None


def _clocks(text: str) -> Sequence[tuple[Span, time]]:
    found: list[tuple[Span, time]] = []
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1] or match[4] or 12), int(match[2] or 0)
        half = (match[3] or match[5] or "").lower()
        if half and not 1 <= hour <= 12:
            continue
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        if hour < 24 and minute < 60:
            found.append((match.span(), time(hour, minute)))
    return found
