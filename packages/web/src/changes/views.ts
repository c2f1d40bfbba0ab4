/** The changesets of a session: those of the whole session, and one for each turn. */
import type { Changeset, ChatState, SessionState, Turn } from '@atrium/protocol/ahp-1';

interface View {
  readonly uri: string;
  readonly label: string;
}

const VARIABLE = /\{([^{}]*)\}/g;
const TURN = 'turnId';

/** The changesets without variables in their URIs, with their sums. */
export function wholeViews(changesets: readonly Changeset[] = []): readonly Changeset[] {
  return changesets.filter(({ uriTemplate }) => variablesOf(uriTemplate).length === 0);
}

/** The changes of one turn; undefined if the host does not tell turns apart. */
export function turnView(changesets: readonly Changeset[] = [], turnId: string): View | undefined {
  const entry = changesets.find(({ uriTemplate }) => {
    const variables = variablesOf(uriTemplate);
    return variables.length === 1 && variables[0] === TURN;
  });
  return entry && { uri: expand(entry.uriTemplate, { [TURN]: turnId }), label: entry.label };
}

function variablesOf(template: string): readonly string[] {
  return [...template.matchAll(VARIABLE)].map(([, name = '']) => name);
}

/** Expands the simple form of RFC 6570, the only one that the protocol uses here. */
export function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (_whole, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** Whether a turn has used tools, and so may have changed something. */
export function hasTools({ responseParts }: Pick<Turn, 'responseParts'>): boolean {
  return responseParts.some(({ kind }) => kind === 'toolCall');
}

const WORDS_MAX_CHARACTERS = 60;

/** The turns with a view of their own, the newest first. */
export function turnChoices(
  changesets: readonly Changeset[] | undefined,
  { turns, activeTurn }: Pick<ChatState, 'turns' | 'activeTurn'>,
): readonly View[] {
  const all = [...turns, ...(activeTurn ? [activeTurn] : [])].filter(hasTools).toReversed();
  return all.flatMap(({ id, message }) => {
    const view = turnView(changesets, id);
    return view ? [{ uri: view.uri, label: shortened(message.text) }] : [];
  });
}

function shortened(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > WORDS_MAX_CHARACTERS ? `${line.slice(0, WORDS_MAX_CHARACTERS)} …` : line;
}

/** The changesets of the session, then those that only this chat has. */
export function changesetsOf(
  session: Pick<SessionState, 'changesets'>,
  chat: Pick<ChatState, 'changesets'>,
): readonly Changeset[] {
  const all = [...(session.changesets ?? []), ...(chat.changesets ?? [])];
  return all.filter((entry, index) => all.findIndex((each) => each.uriTemplate === entry.uriTemplate) === index);
}
