/** Knows which questions come from the person's own action, such as a commit: such a question takes the focus. */
import type { OpenSession } from '../host/open-session.js';
import { canTakeFocus, hasKeyboard } from '../ui/focus.js';
import { openQuestions } from './open-questions.js';

type Asked = Pick<OpenSession, 'state' | 'chat'>;

interface Expectation {
  readonly session: Asked;
  /** The questions that were open before the action. */
  readonly before: ReadonlySet<string>;
  /** The element that had the focus. */
  readonly from: Element | null;
}

const underWay = new Set<Expectation>();
/** Questions that came during an action, but appear on the screen only with the next frame. */
const arrived = new Map<string, Expectation>();

/** Runs an action that may ask back: the first question before its end belongs to it. */
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

/** Returns an expectation once; `takesFocus` unless the person has moved the focus meanwhile. */
export function expectedQuestion(session: Asked, id: string): { readonly takesFocus: boolean } | undefined {
  const isOf = (each: Expectation) => each.session === session && !each.before.has(id);
  const expectation = arrived.get(id) ?? [...underWay].find(isOf);
  if (!expectation) return undefined;
  arrived.delete(id);
  underWay.delete(expectation);
  const isStill = document.activeElement === expectation.from;
  return { takesFocus: hasKeyboard() && (isStill || canTakeFocus()) };
}

function openIn({ state, chat }: Asked): string[] {
  return openQuestions(state, chat).map(({ request }) => request.id);
}
