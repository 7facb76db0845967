"""Names of functions and symbols in TeX."""

from collections.abc import Mapping

FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln "
    "log max min sec sin sinh sup tan tanh Pr".split()
)
"""Names of operators with a command in TeX."""


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

_LETTER_STYLES = {"mathbb": "ℝR ℂC ℕN ℤZ ℚQ ℙP ℍH", "mathcal": "ℒL ℱF ℋH"}

_REPLACEMENTS = {
    **dict.fromkeys("−\u2010\u2011", "-"),
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
    **{character: f"\\{character}" for character in "{}%#&$"},
    "′": "'",
    "″": "''",
    "\u00a0": " ",
    "√": "\\surd",
}

SYMBOLS: Mapping[str, str] = {
    **{character: f"\\{name}" for character, name in zip(_COMMANDS.split()[::2], _COMMANDS.split()[1::2], strict=True)},
    **{pair[0]: f"\\{style}{{{pair[1]}}}" for style, pairs in _LETTER_STYLES.items() for pair in pairs.split()},
    **_REPLACEMENTS,
}
"""TeX for a character. Characters that are not here stay unchanged."""
