/** The commands that work before there is a session: they are about the page, or about the session that will begin. */
import {
  type BuiltinName,
  builtinIn,
  MODE_LABELS,
  MODE_PROPERTY,
  MODE_TEXTS,
  PERMISSION_MODES,
  readModelWords,
} from '@atrium/protocol/ahp-1';
import { theme } from '../composer/commands.js';
import { goTo } from '../host/router.js';
import { searchFor, show, showSettings } from '../ui/overlay.js';
import type { NewSession } from './use-new-session.js';

export interface StartPlace {
  readonly form: NewSession;
  /** Puts a text into the field. */
  write(text: string): void;
}

/** Returns a note for the person, or nothing. */
type Handler = (rest: string, place: StartPlace) => string | undefined;

/** A handler without a note, because the page itself shows the effect. */
function shown(act: (rest: string) => void): Handler {
  return (rest) => {
    act(rest);
    return undefined;
  };
}

const HANDLERS: Partial<Record<BuiltinName, Handler>> = {
  help: shown(() => show('help')),
  sessions: shown(() => show('palette')),
  search: shown(searchFor),
  permissions: shown(() => showSettings('Permission rules')),
  notify: shown(() => showSettings('Notifications')),
  devices: shown(() => show('devices')),
  settings: shown(() => show('settings')),
  theme,
  model,
  mode,
  plan: (rest, place) => {
    place.write(rest);
    return mode('plan', place);
  },
  quit: shown(() => goTo({ at: 'home' })),
};

/** True for a line that is, or may become, one of these commands. */
export function isStartCommand(text: string): boolean {
  const command = builtinIn(text);
  return command !== undefined && HANDLERS[command.name] !== undefined;
}

/** Runs a command that works here; undefined for any other text. The result is the note for the person. */
export function runStartCommand(text: string, place: StartPlace): { readonly note: string | undefined } | undefined {
  const command = builtinIn(text);
  const handler = command && HANDLERS[command.name];
  if (!command || !handler) return undefined;
  place.write('');
  return { note: handler(command.rest, place) };
}

function model(words: string, { form }: StartPlace): string {
  const read = readModelWords(words, form.agent?.models ?? [], form.model === '' ? undefined : { id: form.model });
  if (read.kind === 'chosen') form.chooseModel(read.model.id);
  return read.text;
}

function mode(word: string, { form: { config } }: StartPlace): string {
  const wanted = PERMISSION_MODES.find((each) => each === word);
  if (config.state?.schema.properties[MODE_PROPERTY] === undefined) return 'This host has no modes.';
  if (!wanted) return 'Write /mode plan, ask, accept-edits or auto.';
  config.set({ [MODE_PROPERTY]: wanted });
  return `${MODE_LABELS[wanted]}: ${MODE_TEXTS[wanted]}`;
}
