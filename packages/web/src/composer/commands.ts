/** Runs the commands of the table in the page, with the same effects as in the terminal. */
import {
  type AgentInfo,
  BUDGET_SCOPES,
  type BuiltinName,
  type ChatState,
  fileReferenceUri,
  isPinned,
  type Message,
  type MessageAttachment,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  modeChange,
  modeIn,
  PERMISSION_MODES,
  PIN_METHOD,
  readFileReference,
  readModelWords,
  readUsageLimit,
  type SessionState,
} from '@atrium/protocol/ahp-1';
import { deleteChat, openChat } from '../chats/chat-actions.js';
import { openFile } from '../files/open-file.js';
import type { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { saveConversation } from '../host/save-conversation.js';
import { messageOf, resumeTurn } from '../host/turns.js';
import { chatAbilities } from '../model/chats.js';
import type { Selection } from '../model/selection.js';
import { folderOf, isArchived, startFolder } from '../model/sessions.js';
import { goingBackTo, undoRewind } from '../rewind/going-back.js';
import { isFinding } from '../search/finding.js';
import { sessionClaim } from '../terminals/claims.js';
import { tell } from '../ui/notices.js';
import { searchFor, show, showBoard, showSettings } from '../ui/overlay.js';
import { openPanel } from '../ui/panel-state.js';
import { chooseTheme, THEMES, themeOf } from '../ui/preferences.js';

export interface CommandPlace {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
  readonly agents: readonly AgentInfo[];
  readonly selection: Selection;
  select(selection: Selection): void;
  /** What is attached to the message that is being written. */
  readonly attachments: readonly MessageAttachment[];
  /** Puts a text into the field, for the person to continue. */
  write(text: string, attachments: readonly MessageAttachment[]): void;
}

/** Returns a note for the person, or nothing. */
type Handler = (rest: string, place: CommandPlace) => string | undefined | Promise<string | undefined>;

/** A handler without a note, because the page itself shows the effect. */
function shown(act: (rest: string) => void): Handler {
  return (rest) => {
    act(rest);
    return undefined;
  };
}

const panel = (tab: string) => shown(() => openPanel(tab));

/** What cannot be taken back by itself is chosen, and confirmed, in the panel. */
const changesPanel = (advice: string): Handler => {
  return () => {
    openPanel('changes');
    return advice;
  };
};

const HANDLERS: Readonly<Record<BuiltinName, Handler>> = {
  help: shown(() => show('help')),
  new: shown(() => goTo({ at: 'new' })),
  sessions: shown(() => show('palette')),
  search: shown(searchFor),
  find: shown(() => isFinding.set(true)),
  chats: goToChats,
  chat: (words, place) => inNewChat(place, words),
  fork,
  aside,
  close,
  compact: (words, place) => say(place, words === '' ? '/compact' : `/compact ${words}`),
  model,
  pin,
  rename,
  archive,
  export: exportHere,
  cost: panel('details'),
  budget,
  auto,
  mode,
  plan: (rest, place) => {
    const said = mode('plan', place);
    if (rest === '') return said;
    // Another host has no modes: then nothing is sent.
    if (!hasModes(place.state)) place.write(rest, place.attachments);
    else {
      const message = messageOf({ text: rest, attachments: place.attachments, ...place.selection });
      const { attachments } = place;
      void place.session.sendMessage(message).then((isSent) => isSent || place.write(rest, attachments));
      place.write('', []);
    }
    return said;
  },
  permissions: shown(() => showSettings('Permission rules')),
  changes: panel('changes'),
  diff: panel('changes'),
  revert: changesPanel('Choose there what to take back: a file, or all that the session changed.'),
  discard: changesPanel('Choose Uncommitted there, then what to discard.'),
  undo: (_rest, place) => goBack('', place),
  redo: (_rest, { session }) => undoRewind(session),
  rewind: goBack,
  stage: (file, place) => operation(place, 'stage', file),
  unstage: (file, place) => operation(place, 'unstage', file),
  commit: (_rest, place) => operation(place, 'commit', ''),
  board: showBoardHere,
  files: panel('files'),
  open,
  paste: () => 'Press Ctrl+V (⌘V on a Mac) in the message field: what is in the clipboard is attached.',
  notify: shown(() => showSettings('Notifications')),
  instructions: panel('details'),
  devices: shown(() => show('devices')),
  share: shown(() => show('share')),
  settings: shown(() => show('settings')),
  theme,
  terminal: panel('terminal'),
  detach,
  background,
  resume,
  unqueue,
  quit: shown(() => goTo({ at: 'home' })),
};

/** Runs a command, and tells the person the result if the page does not show it. */
export async function runCommand(name: BuiltinName, rest: string, place: CommandPlace): Promise<void> {
  try {
    const text = await HANDLERS[name](rest, place);
    if (text !== undefined) tell(text);
  } catch (error) {
    tell(`Not done: ${problemText(error)}`);
  }
}

/** Loads what reads the changes only now. */
async function operation({ session }: CommandPlace, id: string, file: string): Promise<string> {
  const { runOperation } = await import('../changes/stage-command.js');
  return runOperation(session, id, file);
}

function showBoardHere(_rest: string, { state }: CommandPlace): string | undefined {
  const folder = startFolder(state);
  if (!folder) return 'The session has no folder, so that it belongs to no project.';
  showBoard(folder);
  return undefined;
}

/** Shows what a rewind would do: to the last message, or to the one with this number. */
function goBack(rest: string, { chat: { turns }, session }: CommandPlace): string | undefined {
  const { count = 0 } = session.view.get().older;
  const index = rest === '' ? turns.length - 1 : Number(rest) - 1 - count;
  const turn = turns[index];
  if (!turn) return turns.length === 0 ? 'There is nothing to go back to yet.' : `There is no message ${rest} here.`;
  goingBackTo.set(turn.id);
  return undefined;
}

function say({ session, selection }: CommandPlace, text: string): undefined {
  void session.sendMessage(messageOf({ text, ...selection }));
}

function goToChats(): string | undefined {
  const here = document.querySelector<HTMLAnchorElement>('.chat-bar a[aria-current]');
  if (!here) return 'There is one chat in this session. /chat begins another, /fork copies this one.';
  here.focus();
  return undefined;
}

async function inNewChat(
  { session, state, agents, selection }: CommandPlace,
  words: string,
): Promise<string | undefined> {
  if (!chatAbilities(state, agents).several) return 'This agent has one chat in a session only. Another session: /new';
  const initialMessage = firstWords(words, selection);
  await openChat(session, undefined, initialMessage);
  return undefined;
}

async function fork(
  words: string,
  { session, state, chat, agents, selection }: CommandPlace,
): Promise<string | undefined> {
  if (!chatAbilities(state, agents).fork) return 'This agent cannot fork a chat.';
  const last = chat.turns.at(-1);
  if (!last) return 'There is nothing to fork yet: no turn has ended here.';
  const source = { kind: 'fork' as const, chat: chat.resource, turnId: last.id };
  await openChat(session, source, firstWords(words, selection));
  return undefined;
}

async function aside(
  words: string,
  { session, state, chat, agents, selection }: CommandPlace,
): Promise<string | undefined> {
  if (!chatAbilities(state, agents).aside) return 'This agent has no side chats.';
  const last = chat.turns.at(-1);
  if (!last) return 'Nothing was said here yet: ask it right here.';
  if (words === '') return 'Write the question behind it: /aside what does that mean?';
  const source = { kind: 'sideChat' as const, chat: chat.resource, turnId: last.id };
  await openChat(session, source, firstWords(words, selection));
  return undefined;
}

function firstWords(text: string, selection: Selection): Message | undefined {
  return text === '' ? undefined : messageOf({ text, ...selection });
}

async function close(_rest: string, { session, state, chat }: CommandPlace): Promise<string | undefined> {
  if (chat.resource === state.defaultChat)
    return 'This is the first chat of the session, and stays with it. /chats goes to another one.';
  if (chat.turns.length === 0) await deleteChat(session);
  // If the chat has content, the button asks first.
  else document.querySelector<HTMLButtonElement>('.chat-strip button')?.click();
  return undefined;
}

function model(words: string, { state, agents, selection, select }: CommandPlace): string {
  const models = agents.find(({ provider }) => provider === state.provider)?.models ?? [];
  const read = readModelWords(words, models, selection.model);
  if (read.kind === 'chosen') select({ model: read.model });
  return read.text;
}

async function pin(_rest: string, { session, state }: CommandPlace): Promise<string> {
  const pinned = !isPinned(state);
  await session.client.requestExtension(PIN_METHOD, { channel: session.uri, pinned });
  return pinned ? 'This session stands above others now. /pin ends that.' : 'This session is not pinned any more.';
}

function rename(words: string, { session }: CommandPlace): string | undefined {
  if (words === '') return 'Write the title behind it: /rename My session';
  session.dispatch({ type: 'session/titleChanged', title: words });
  return undefined;
}

function archive(_rest: string, { session, state }: CommandPlace): string {
  const isOld = isArchived(state);
  session.dispatch({ type: 'session/isArchivedChanged', isArchived: !isOld });
  return isOld
    ? 'This session is on the list again.'
    : 'This session is put aside: lists leave it out. /archive takes it back.';
}

async function exportHere(words: string, { session }: CommandPlace): Promise<string> {
  return `Saved as ${await saveConversation(session, words)}.`;
}

/** `/budget session $5`; alone, the budgets there are. */
async function budget(words: string, { session }: CommandPlace): Promise<string | undefined> {
  const [first, amount = ''] = words.split(/\s+/);
  const scope = BUDGET_SCOPES.find((each) => each === first);
  const limit = readUsageLimit(amount);
  if (!scope || !limit) return void show('usage');
  await session.client.requestExtension('atrium/setBudget', { scope, session: session.uri, ...limit });
  return amount === 'off' ? `The budget of the ${scope} is removed.` : `The budget of the ${scope} is ${amount} now.`;
}

function auto(word: string, { session }: CommandPlace): string {
  if (word !== 'on' && word !== 'off') return 'Write /auto on or /auto off.';
  session.dispatch({ type: 'session/configChanged', config: { autoApprove: word === 'on' } });
  return word === 'on' ? 'Tools run without asking in this session.' : 'Tools ask first.';
}

function hasModes({ config }: SessionState): boolean {
  return config?.schema.properties[MODE_PROPERTY] !== undefined;
}

function mode(word: string, { session, state }: CommandPlace): string {
  const { config } = state;
  const wanted = PERMISSION_MODES.find((each) => each === word);
  if (!config || !hasModes(state)) return 'This host has no modes.';
  if (!wanted) return `The mode is ${MODE_LABELS[modeIn(config.values)]}. Write /mode plan, ask, accept-edits or auto.`;
  session.dispatch({ type: 'session/configChanged', config: modeChange(wanted, config.values) });
  return `${MODE_LABELS[wanted]}: ${MODE_TEXTS[wanted]}`;
}

/** `/open src/app.ts:12`; without an argument, shows all files. */
function open(words: string, { session, state }: CommandPlace): string | undefined {
  const place = readFileReference(words);
  if (!place) return void openPanel('files');
  const uri = fileReferenceUri(place.path, folderOf(state));
  if (uri === undefined) return `Where ${place.path} is cannot be said: write the whole path.`;
  openFile({ session: session.uri, uri, line: place.line, column: place.column });
  return undefined;
}

export function theme(word: string): string | undefined {
  const chosen = themeOf(word);
  if (!chosen) return `There are: ${THEMES.map(({ id }) => id).join(', ')}. Write one behind it: /theme midnight`;
  return void chooseTheme(chosen);
}

/** Gives the terminal of the agent's newest command to the session, so that the agent goes on. */
async function detach(_rest: string, { session, chat }: CommandPlace): Promise<string | undefined> {
  const running = (chat.activeTurn?.responseParts ?? []).flatMap((part) => {
    if (part.kind !== 'toolCall' || part.toolCall.status !== 'running') return [];
    return (part.toolCall.content ?? []).flatMap((block) => (block.type === 'terminal' ? block.resource : []));
  });
  const uri = running.at(-1);
  if (uri === undefined) return 'No command is running that the agent waits for.';
  await session.client.dispatch(uri, { type: 'terminal/claimed', claim: sessionClaim(session) });
  return undefined;
}

function background(): string | undefined {
  const list = document.querySelector<HTMLDetailsElement>('details.background-work');
  if (!list) return 'Nothing runs in the background. /detach puts a running command there.';
  list.open = true;
  return undefined;
}

/** Only the host knows after which failures a turn can resume. */
function resume(_rest: string, { session, chat }: CommandPlace): string | undefined {
  const last = chat.turns.at(-1);
  const failure = last?.responseParts.at(-1);
  if (chat.activeTurn) return 'A turn is running.';
  if (last?.state !== 'error' || failure?.kind !== 'error' || !failure.resumable)
    return 'There is nothing to go on with: the last turn did not fail in a way that allows it.';
  resumeTurn(session, last.id);
  return undefined;
}

function unqueue(_rest: string, { session, chat, write }: CommandPlace): string | undefined {
  const last = chat.queuedMessages?.at(-1);
  if (!last) return 'Nothing is waiting.';
  session.dispatch({ type: 'chat/pendingMessageRemoved', kind: 'queued', id: last.id });
  write(last.message.text, last.message.attachments ?? []);
  return undefined;
}
