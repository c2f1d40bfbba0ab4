/** Which sets of changes a session has: those of the whole session, and those of one turn each. */
import type { Changeset, ChatState, SessionState, Turn } from '@atrium/protocol/ahp-1';

interface View {
  readonly uri: string;
  readonly label: string;
}

const VARIABLE = /\{([^{}]*)\}/g;
const TURN = 'turnId';

/** Those that can be opened as they stand, with how much is in them. */
export function wholeViews(changesets: readonly Changeset[] = []): readonly Changeset[] {
  return changesets.filter(({ uriTemplate }) => variablesOf(uriTemplate).length === 0);
}

/** What was changed in one turn; undefined where the host does not tell turns apart. */
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

/** The simple form of RFC 6570, which is all that is defined here. */
export function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (_whole, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** Whether a turn may have changed something: it has used tools. */
export function hasTools({ responseParts }: Pick<Turn, 'responseParts'>): boolean {
  return responseParts.some(({ kind }) => kind === 'toolCall');
}

const WORDS_MAX_CHARACTERS = 60;

/** The turns that can be looked at one by one, the newest first. */
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

/** What can be looked at: the sets of the session, then those that only this chat has. */
export function changesetsOf(
  session: Pick<SessionState, 'changesets'>,
  chat: Pick<ChatState, 'changesets'>,
): readonly Changeset[] {
  const all = [...(session.changesets ?? []), ...(chat.changesets ?? [])];
  return all.filter((entry, index) => all.findIndex((each) => each.uriTemplate === entry.uriTemplate) === index);
}
