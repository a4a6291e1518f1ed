r"""Definitions of a paper: \newcommand, \def, \let, \newenvironment, operators, theorems, switches of \newif.

Decides: a definition holds from where it stands to the end, whatever group it stands in; a body that uses TeX's
internals (`\csname`, `\futurelet`, names with @) cannot be expanded without TeX and is left out: its name counts as
unknown; a style file defines nothing that has a meaning here already. Costs: one reading of the definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from danlu.latex.scan import Kind, Token, join_source
from danlu.latex.stream import Stream
from danlu.latex.vocabulary import load_vocabulary

_MOST_ARGUMENTS = 9
NO_VALUE = Token(Kind.MARK, "", "NoValue")
"""What an optional argument without a default is where it was left out."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """How an argument is taken: `default` if it may stand in brackets, `ending` if it runs up to some tokens."""

    default: tuple[Token, ...] | None = None
    ending: tuple[Token, ...] = ()
    is_star: bool = False


@dataclass(frozen=True, slots=True)
class Macro:
    """What a name stands for; `ending`: what the end of an environment stands for."""

    parameters: tuple[Parameter, ...]
    body: tuple[Token, ...]
    ending: tuple[Token, ...] = ()
    prefix: tuple[Token, ...] = ()
    """What must stand before the first argument, as in \\def\\x(#1){...}."""


@dataclass(slots=True)
class Definitions:
    """What was defined so far."""

    macros: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, Macro] = field(default_factory=dict)
    theorems: dict[str, str] = field(default_factory=dict)
    switches: dict[str, bool] = field(default_factory=dict)
    in_style: bool = False

    def may_define(self, name: str, body: Sequence[Token], is_new: bool = False) -> bool:
        """Whether a name may get this body; `is_new`: a paper's own name for what is fixed here stays out too."""
        vocabulary = load_vocabulary()
        if not name or name in (vocabulary.known if self.in_style else vocabulary.fixed):
            return False
        if is_new and name in self.macros:
            return False
        words = [token.name for token in body if token.kind is Kind.WORD]
        return not any(word in vocabulary.groups["internals"] or "@" in word for word in words)

    def set_macro(self, name: str, macro: Macro) -> None:
        """Defines a name; one whose body cannot be expanded is undefined from here on."""
        if self.may_define(name, macro.body):
            self.macros[name] = macro
        elif name not in load_vocabulary().known:
            self.macros.pop(name, None)


def _name(stream: Stream) -> str:
    r"""The name of the command to define, which stands with or without braces, with or without a star."""
    tokens = [token for token in stream.argument() if token.kind in (Kind.WORD, Kind.SYMBOL)]
    return tokens[0].name if tokens else ""


def _parameters(stream: Stream) -> tuple[Parameter, ...]:
    """[number][default], as \\newcommand has them."""
    count = "".join(token.text for token in stream.bracket() or ()).strip()
    number = min(int(count), _MOST_ARGUMENTS) if re.fullmatch("[0-9]", count) else 0
    default = stream.bracket() if number else None
    first = [] if default is None else [Parameter(tuple(default))]
    return (*first, *[Parameter()] * (number - len(first)))


def define_command(stream: Stream, made: Definitions, command: str) -> None:
    r"""\newcommand{\name}[number][default]{body} and its kin; \providecommand leaves what is there."""
    name = _name(stream)
    macro = Macro(_parameters(stream), tuple(stream.argument()))
    if not command.startswith("provide") or made.may_define(name, macro.body, is_new=True):
        made.set_macro(name, macro)


def define_plain(stream: Stream, made: Definitions, command: str) -> None:
    r"""\def\name parameters {body}; \edef too, whose body is expanded late here, which differs if it names itself."""
    name = _name(stream)
    pieces: list[list[Token]] = [[]]
    while (token := stream.peek()) and token.kind is not Kind.OPEN:
        if token.kind in (Kind.PARAGRAPH, Kind.CLOSE):
            return
        stream.next()
        if token.kind is Kind.PARAMETER:
            pieces.append([])
        else:
            pieces[-1].append(token)
    if token is None:
        return
    body = tuple(stream.argument())
    if command in ("edef", "xdef") and any(token.name == name for token in body):
        return
    prefix = tuple(token for token in pieces[0] if token.kind is not Kind.SPACE)
    made.set_macro(
        name, Macro(tuple(Parameter(ending=tuple(piece)) for piece in pieces[1:]), body, prefix=prefix)
    )


def define_alias(stream: Stream, made: Definitions, _command: str) -> None:
    r"""\let\name=\other: what the other stands for now, or the other itself where it is LaTeX's own."""
    name = _name(stream)
    stream.skip_blank()
    if (token := stream.peek()) and token.kind is Kind.TEXT and token.text.startswith("="):
        stream.argument()
        stream.skip_blank()
    other = stream.argument()
    if len(other) != 1 or other[0].name == name:
        return
    known = made.macros.get(other[0].name) if other[0].kind is Kind.WORD else None
    made.set_macro(name, known or Macro((), (other[0]._replace(after=""),)))


def define_operator(stream: Stream, made: Definitions, command: str) -> None:
    r"""\DeclareMathOperator{\name}{body} is \operatorname{body}."""
    name, body = _name(stream), stream.argument()
    head = Token(Kind.WORD, "\\operatorname", "operatorname")
    starred = head._replace(text="\\operatorname*") if command.endswith("*") else head
    made.set_macro(name, Macro((), (starred, Token(Kind.OPEN, "{"), *body, Token(Kind.CLOSE, "}"))))


def define_paired(stream: Stream, made: Definitions, _command: str) -> None:
    r"""\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}: one argument between two signs."""
    name, left, right = _name(stream), stream.argument(), stream.argument()
    body = (*left, Token(Kind.OPEN, "{"), Token(Kind.PARAMETER, "#1", "1"), Token(Kind.CLOSE, "}"), *right)
    made.set_macro(name, Macro((Parameter(),), body))


def define_document_command(stream: Stream, made: Definitions, _command: str) -> None:
    r"""\NewDocumentCommand\name{specification}{body} with arguments m, o, O{default} and s."""
    name, specification, body = _name(stream), stream.argument(), stream.argument()
    signs = re.findall(r"O\s*\{([^{}]*)\}|([a-zA-Z])", join_source(specification).replace("+", ""))
    parameters: list[Parameter] = []
    for default, sign in signs:
        if sign == "m":
            parameters.append(Parameter())
        elif sign == "s":
            parameters.append(Parameter(is_star=True))
        elif sign in ("o", ""):
            value = NO_VALUE if sign else Token(Kind.TEXT, default)
            parameters.append(Parameter((value,)))
        else:
            return
    made.set_macro(name, Macro(tuple(parameters[:_MOST_ARGUMENTS]), tuple(body)))


def define_environment(stream: Stream, made: Definitions, _command: str) -> None:
    r"""\newenvironment{name}[number][default]{beginning}{ending}; one that is known here keeps its meaning."""
    name = join_source(stream.argument()).strip()
    parameters = _parameters(stream)
    macro = Macro(parameters, tuple(stream.argument()), tuple(stream.argument()))
    known = load_vocabulary()
    is_known = name in known.theorems or any(name in names for names in known.groups.values())
    if not is_known and not made.in_style and made.may_define(name, (*macro.body, *macro.ending)):
        made.environments[name] = macro


def define_theorem(stream: Stream, made: Definitions, command: str) -> None:
    r"""\newtheorem{name}[counter]{Title}[within], also \spnewtheorem and \declaretheorem[name=Title]{name}."""
    if command.startswith("declare"):
        options = join_source(stream.bracket() or ())
        names, title = join_source(stream.argument()), ""
        stream.bracket()
        match = re.search(r"(?:name|title)\s*=\s*\{?([^,{}]+)", options)
        title = match[1].strip() if match else ""
    else:
        names = join_source(stream.argument())
        stream.bracket()
        title = join_source(stream.argument()).strip()
        stream.bracket()
        for _ in range(2 if command.startswith("sp") else 0):
            stream.argument()
    for name in names.split(","):
        made.theorems[name.strip()] = title or name.strip().capitalize()


def define_switch(stream: Stream, made: Definitions, _command: str) -> None:
    r"""\newif\ifname: a condition that \nametrue and \namefalse set."""
    name = _name(stream)
    if name.startswith("if"):
        made.switches[name[2:]] = False


Definer = Callable[[Stream, Definitions, str], None]
DEFINERS: dict[str, Definer] = {
    **dict.fromkeys(
        ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand", "newrobustcmd"),
        define_command,
    ),
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), define_plain),
    "let": define_alias,
    "DeclareMathOperator": define_operator,
    "DeclarePairedDelimiter": define_paired,
    **dict.fromkeys(
        ("NewDocumentCommand", "RenewDocumentCommand", "DeclareDocumentCommand", "ProvideDocumentCommand"),
        define_document_command,
    ),
    **dict.fromkeys(("newenvironment", "renewenvironment", "provideenvironment"), define_environment),
    **dict.fromkeys(("newtheorem", "spnewtheorem", "declaretheorem"), define_theorem),
    "newif": define_switch,
}
"""The commands that define, and who reads what follows them; each is told the command, with its star if it has one."""
