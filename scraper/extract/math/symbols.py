"""Characters of formulas and the TeX commands that write them."""

from __future__ import annotations

from collections.abc import Mapping

FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln "
    "log max min sec sin sinh sup tan tanh Pr".split()
)
"""Names that TeX knows as operators."""

_COMMANDS = """
α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda
μ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi
ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ⋆ star ∘ circ ∙ bullet ⊕ oplus ⊖ ominus ⊗ otimes ⊙ odot
≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ ≲ lesssim ≳ gtrsim
∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⨁ bigoplus ⨂ bigotimes ⋁ bigvee ⋀ bigwedge
∞ infty ∂ partial ∇ nabla ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph ∅ emptyset ∀ forall ∃ exists ∄ nexists ¬ neg
∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∖ setminus ∧ wedge ∨ vee
→ to ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow
⟶ longrightarrow ⟵ longleftarrow ⟹ implies ⟺ iff ↪ hookrightarrow ⇀ rightharpoonup ⇌ rightleftharpoons
… ldots ⋯ cdots ⋮ vdots ⋱ ddots ⊥ perp ∥ parallel ∣ mid ∠ angle △ triangle □ square † dagger ‡ ddagger
⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ‖ Vert ∎ blacksquare ⊢ vdash ⊨ models ⊤ top
"""

_FIELDS = {
    "ℝ": "\\mathbb{R}",
    "ℂ": "\\mathbb{C}",
    "ℕ": "\\mathbb{N}",
    "ℤ": "\\mathbb{Z}",
    "ℚ": "\\mathbb{Q}",
    "ℙ": "\\mathbb{P}",
    "ℍ": "\\mathbb{H}",
    "ℒ": "\\mathcal{L}",
    "ℱ": "\\mathcal{F}",
    "ℋ": "\\mathcal{H}",
}

_WRITTEN_OTHERWISE = {
    "−": "-",
    "\u2010": "-",
    "\u2011": "-",
    "′": "'",
    "″": "''",
    "{": "\\{",
    "}": "\\}",
    "%": "\\%",
    "#": "\\#",
    "&": "\\&",
    "$": "\\$",
    "\u00a0": " ",
    "\u2061": "",
    "\u2062": "",
    "\u2063": "",
    "\u2064": "",
    "\u200b": "",
    "√": "\\surd",
}


def _pairs(words: str) -> dict[str, str]:
    parts = words.split()
    return {character: f"\\{name}" for character, name in zip(parts[::2], parts[1::2], strict=True)}


SYMBOLS: Mapping[str, str] = {**_pairs(_COMMANDS), **_FIELDS, **_WRITTEN_OTHERWISE}
"""What TeX writes for a character; what is not here stands for itself."""

ACCENTS: Mapping[str, str] = {
    "˙": "dot",
    "¨": "ddot",
    "^": "hat",
    "ˆ": "hat",
    "~": "tilde",
    "˜": "tilde",
    "∼": "tilde",
    "¯": "bar",
    "ˉ": "bar",
    "‾": "overline",
    "_": "overline",
    "―": "overline",
    "→": "vec",
    "⃗": "vec",
    "⏞": "overbrace",
    "⇀": "vec",
    "ˇ": "check",
    "˘": "breve",
    "´": "acute",
    "`": "grave",
}
"""Over a letter, by the character that MathML sets there."""

UNDER_ACCENTS: Mapping[str, str] = {"⏟": "underbrace", "_": "underline", "‾": "underline", "―": "underline"}

FENCES: Mapping[tuple[str, str], str] = {
    ("(", ")"): "pmatrix",
    ("[", "]"): "bmatrix",
    ("|", "|"): "vmatrix",
    ("\\mid", "\\mid"): "vmatrix",
    ("\\{", "\\}"): "Bmatrix",
    ("\\Vert", "\\Vert"): "Vmatrix",
    ("\\{", ""): "cases",
}
"""The environment of a table between two brackets."""
