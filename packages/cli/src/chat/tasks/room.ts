/** What a command of the chat may use: the session, the screen, and the person in front of it. */
import type { Client, Subscription } from '@atrium/client';
import type { ViewName } from '../../changes/views.js';
import type { ViewOptions } from '../call-view.js';

/** What one command leaves for the next. */
export interface Recall {
  /** The changes that were looked at last. */
  view?: ViewName | undefined;
  /** How what was taken back last is put back. */
  undo?: { readonly channel: string; readonly operationId: string } | undefined;
}

export interface Room {
  readonly client: Client;
  readonly session: Subscription;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
  readonly recall: Recall;
  view(): ViewOptions;
  note(text: string): void;
  /** Puts lines into the scrollback. */
  show(lines: readonly string[]): void;
  /** A yes or a no of the person. */
  ask(question: string): Promise<boolean>;
  /** Gives the terminal away for as long as the work takes. */
  away(work: () => Promise<void>): Promise<void>;
}

/** Something that takes a moment. What goes wrong is told by whoever runs it. */
export type Task = (room: Room) => Promise<void>;
