/** Marks found words where they are drawn, without changing the elements: browsers without highlights show none. */
import { type Phrase, spansOf, wordsOf } from '@atrium/protocol/ahp-1';

const NAME = 'found';
/** A conversation draws only what is visible; a very long answer is marked in its first texts. */
const TEXTS_MAX = 3_000;

/** Until the returned function is called, also in what is drawn later. */
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

function rangesIn(container: HTMLElement, phrases: readonly Phrase[]): Range[] {
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
