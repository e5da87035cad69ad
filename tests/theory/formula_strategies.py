"""Hypothesis strategies: formulas and words over three atoms."""

from hypothesis import strategies as st

from kron.theory.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    Atom,
    Eventually,
    Formula,
    Historically,
    Implies,
    Named,
    Next,
    Not,
    Once,
    Or,
    Previous,
    Since,
    Until,
    WeakUntil,
)

ATOMS = ("p", "q", "r")
_leaves: st.SearchStrategy[Formula] = st.sampled_from([Atom(name) for name in ATOMS]) | st.sampled_from([TRUE, FALSE])


def _boolean(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return (
        st.builds(Not, parts)
        | st.builds(And, parts, parts)
        | st.builds(Or, parts, parts)
        | st.builds(Implies, parts, parts)
        | st.builds(Named, st.just("M"), parts)
    )


past_formulas = st.recursive(
    _leaves,
    lambda parts: (
        _boolean(parts)
        | st.builds(Previous, parts)
        | st.builds(Once, parts)
        | st.builds(Historically, parts)
        | st.builds(Since, parts, parts)
    ),
    max_leaves=6,
)
formulas = st.recursive(
    past_formulas,
    lambda parts: (
        _boolean(parts)
        | st.builds(Next, parts)
        | st.builds(Always, parts)
        | st.builds(Eventually, parts)
        | st.builds(Until, parts, parts)
        | st.builds(WeakUntil, parts, parts)
    ),
    max_leaves=6,
)
letters = st.frozensets(st.sampled_from(ATOMS))
words = st.lists(letters, max_size=8)
