/** Knows which questions come from what the person just did, like a commit: such a question takes the focus. */
import type { OpenSession } from '../host/open-session.js';
import { hasKeyboard, mayTakeFocus } from '../ui/focus.js';
import { openQuestions } from './open-questions.js';

type Asked = Pick<OpenSession, 'state' | 'chat'>;

interface Expectation {
  readonly session: Asked;
  /** Questions that were open before. */
  readonly before: ReadonlySet<string>;
  /** Where the focus was. */
  readonly from: Element | null;
}

const underWay = new Set<Expectation>();
/** Questions that came while something was under way, and are on the screen only with the next frame. */
const arrived = new Map<string, Expectation>();

/** Does something that may ask back: the first question that comes up before it is done belongs to it. */
export async function expectingQuestion<T>(session: Asked, work: () => Promise<T>): Promise<T> {
  const expectation = { session, before: new Set(openIn(session)), from: document.activeElement };
  underWay.add(expectation);
  try {
    return await work();
  } finally {
    const id = underWay.delete(expectation) && openIn(session).find((each) => !expectation.before.has(each));
    if (id) arrived.set(id, expectation);
  }
}

/** Once for each time that one was expected; `takesFocus` unless the person has gone elsewhere meanwhile. */
export function expectedQuestion(session: Asked, id: string): { readonly takesFocus: boolean } | undefined {
  const isOf = (each: Expectation) => each.session === session && !each.before.has(id);
  const expectation = arrived.get(id) ?? [...underWay].find(isOf);
  if (!expectation) return undefined;
  arrived.delete(id);
  underWay.delete(expectation);
  const isStill = document.activeElement === expectation.from;
  return { takesFocus: hasKeyboard() && (isStill || mayTakeFocus()) };
}

function openIn({ state, chat }: Asked): string[] {
  return openQuestions(state, chat).map(({ request }) => request.id);
}
