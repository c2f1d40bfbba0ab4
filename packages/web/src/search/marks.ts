/** Marks found words without changing the elements; browsers without the highlight API show no marks. */
import { type Phrase, spansOf, wordsOf } from '@atrium/protocol/ahp-1';

const NAME = 'found';
/** How many texts are marked. A conversation draws only visible rows, so this limits only a very long answer. */
const TEXTS_MAX = 3_000;

/** Marks words, also in elements drawn later, until the returned function is called. */
export function markWords(container: HTMLElement, phrases: readonly Phrase[]): () => void {
  const { highlights } = CSS;
  if (!highlights || phrases.length === 0) return () => {};
  let frame = 0;
  const mark = () => {
    frame = 0;
    highlights.set(NAME, new Highlight(...rangesIn(container, phrases)));
  };
  const later = () => {
    frame ||= requestAnimationFrame(mark);
  };
  const observer = new MutationObserver(later);
  observer.observe(container, { childList: true, subtree: true, characterData: true });
  mark();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
    highlights.delete(NAME);
  };
}

/** The words where they stand on the screen, in their order. */
export function rangesIn(container: Element, phrases: readonly Phrase[]): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let count = 0; count < TEXTS_MAX && texts.nextNode(); count += 1) {
    const node = texts.currentNode as Text;
    const words = [...wordsOf(node.data)];
    for (const [start, end] of phrases.flatMap((phrase) => spansOf(phrase, words))) {
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, end);
      ranges.push(range);
    }
  }
  return ranges;
}
