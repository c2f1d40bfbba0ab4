/** When a field may take the focus by itself: where there is a keyboard, and nobody is busy elsewhere with theirs. */

export function hasKeyboard(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches;
}

export function mayTakeFocus(): boolean {
  if (!hasKeyboard() || document.querySelector('dialog[open]')) return false;
  const at = document.activeElement;
  // A link that was clicked is left behind; one that was reached with keys is where somebody walks through the list.
  return at === null || at === document.body || !at.matches(':focus-visible');
}
