/**
 * Commands that go on after their call because a person put them into the background; their chat lists them until they
 * end. They end with the host; entries that an earlier host left in a chat's list are removed when the session is
 * opened.
 */
import type { Session } from '@atrium/core/sessions/session.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ChatAction, ChatState } from '@atrium/protocol/ahp-1';
import type { Terminal } from './terminal.js';

/** How much of the command line the list shows. */
const COMMAND_MAX_CHARACTERS = 2_000;

export interface ListingChat {
  readonly state: ChatState;
  write(action: ChatAction): void;
}

export interface BackgroundWorkOptions {
  /** The chat, loaded into memory; undefined when it no longer exists. */
  openChat(uri: string): Promise<ListingChat | undefined>;
  /** Whether a program runs in the terminal with this URI. */
  isRunning(terminal: string): boolean;
}

interface Command {
  readonly chat: ListingChat & { readonly uri: string };
  readonly terminal: Pick<Terminal, 'uri' | 'state' | 'ended'>;
  readonly command: string;
  readonly startedAt: number;
}

export class BackgroundWork {
  constructor(private readonly options: BackgroundWorkOptions) {}

  /** Lists a command that goes on without its call, until it ends. */
  began({ chat, terminal, command, startedAt }: Command): void {
    const { uri: id, state } = terminal;
    chat.write({
      type: 'chat/backgroundWorkSet',
      work: {
        ...{ kind: 'shell', id, label: state.title, startedAt: new Date(startedAt).toISOString() },
        ...{ command: shorten(command, COMMAND_MAX_CHARACTERS), terminal: id },
      },
    });
    // The session may have been unloaded by then.
    void terminal.ended
      .then(() => this.options.openChat(chat.uri))
      .then((open) => open?.write({ type: 'chat/backgroundWorkRemoved', id }))
      .catch(() => {});
  }

  /** Removes entries from the lists of a session whose commands no longer run. */
  tidy({ chats }: Pick<Session, 'chats'>): void {
    for (const chat of chats) {
      for (const work of chat.state.backgroundWork ?? []) {
        const isOver = work.kind === 'shell' && 'terminal' in work && !this.options.isRunning(String(work.terminal));
        if (isOver) chat.write({ type: 'chat/backgroundWorkRemoved', id: work.id });
      }
    }
  }
}
