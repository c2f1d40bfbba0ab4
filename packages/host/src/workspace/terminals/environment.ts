/** What programs in a terminal are told: all that the host was started with, except what is the host's alone. */
import { childEnvironment, type Environment } from '../../core/util/child-environment.js';

/** What another terminal said about itself, if the host was started in one. */
const OF_ANOTHER_TERMINAL: ReadonlySet<string> = new Set(
  (
    'TMUX TMUX_PANE STY WINDOW WINDOWID TERMCAP COLUMNS LINES COLORTERM TERM_PROGRAM_VERSION TERM_SESSION_ID ' +
    'VTE_VERSION KITTY_WINDOW_ID WT_SESSION ITERM_SESSION_ID VSCODE_INJECTION VSCODE_SHELL_INTEGRATION'
  ).split(' '),
);
/** What makes programs colour their output where nobody sees it. */
const FORCES_COLOUR: ReadonlySet<string> = new Set(['FORCE_COLOR', 'CLICOLOR_FORCE']);

/** For a person at a screen. */
export function shellEnvironment(host: Environment = process.env): Record<string, string> {
  return {
    ...without(childEnvironment(host), OF_ANOTHER_TERMINAL),
    ...encoding(host),
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    TERM_PROGRAM: 'atrium',
  };
}

/** Who is at the terminal of a command. */
export interface People {
  readonly areThere: boolean;
  /** The command reads what they type. */
  readonly canType: boolean;
}

/** For a command whose output a model reads: plain, at once, and without anything that waits for a key. */
export function commandEnvironment(people: People, host: Environment = process.env): Record<string, string> {
  return {
    ...without(without(childEnvironment(host), OF_ANOTHER_TERMINAL), FORCES_COLOUR),
    ...encoding(host),
    // Whoever answers questions needs a screen that can show them.
    TERM: people.canType ? 'xterm-256color' : 'dumb',
    // It asks the terminal itself, and would wait for an answer.
    ...(!people.areThere && { GIT_TERMINAL_PROMPT: '0' }),
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    PYTHONUNBUFFERED: '1',
  };
}

function without(env: Record<string, string>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

/** A host that a service manager started may know no language; terminals speak UTF-8. */
function encoding({ LC_ALL, LC_CTYPE, LANG }: Environment): Record<string, string> {
  if (LC_ALL || LC_CTYPE || LANG) return {};
  return { LANG: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' };
}
