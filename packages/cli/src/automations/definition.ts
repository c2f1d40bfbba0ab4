/** The definition of an automation, from the options of a command or from a file. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AutomationDefinition, AutomationTrigger } from '@atrium/protocol/ahp-1';
import { UsageError } from '../exit.js';
import { io } from '../io.js';

export interface CreateOptions {
  readonly title?: string;
  readonly cron?: readonly string[];
  readonly timeZone?: string;
  readonly catchUp?: boolean;
  readonly onTurn?: readonly string[];
  readonly onFiles?: readonly string[];
  readonly onPush?: string;
  readonly cwd?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly worktree?: boolean;
  readonly off?: boolean;
  readonly file?: string;
}

const TITLE_MAX_CHARACTERS = 80;

export async function definitionFrom(
  message: string | undefined,
  options: CreateOptions,
): Promise<AutomationDefinition> {
  if (options.file !== undefined) return readDefinition(options.file);
  if (message === undefined) throw new UsageError('say what to send: atrium automations create "run the tests"');
  const {
    title = message.slice(0, TITLE_MAX_CHARACTERS),
    cwd = io().cwd,
    agent,
    model,
    worktree,
    off = false,
  } = options;
  return {
    title,
    message: { text: message, origin: { kind: 'automation' } },
    session: {
      workingDirectories: [pathToFileURL(path.resolve(io().cwd, cwd)).href],
      ...(agent !== undefined && { provider: agent }),
      ...(model !== undefined && { model: { id: model } }),
      ...(worktree && { config: { isolation: 'worktree' } }),
    },
    enabled: !off,
    triggers: [...schedules(options), ...events(options)],
  };
}

/** Does not check the content: the host does. */
async function readDefinition(file: string): Promise<AutomationDefinition> {
  try {
    return JSON.parse(await readFile(path.resolve(io().cwd, file), 'utf8'));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function schedules({ cron = [], timeZone = hereZone(), catchUp }: CreateOptions): AutomationTrigger[] {
  return cron.map((expression, index) => ({
    kind: 'schedule',
    id: `schedule-${index + 1}`,
    schedule: { expression, timeZone },
    misfirePolicy: catchUp ? 'runOnce' : 'skip',
  }));
}

function hereZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Events of Atrium's hosts. Another host refuses events that it does not know, with an error that says so. */
function events({ onTurn, onFiles, onPush, cwd = io().cwd }: CreateOptions): AutomationTrigger[] {
  const trigger = (
    id: string,
    title: string,
    rest: { type: string; events: string[]; config: Record<string, unknown> },
  ) => [{ kind: 'event', id, title, ...rest }] as const;
  return [
    ...(onTurn
      ? trigger('turn', 'A turn ends', {
          ...{ type: 'atrium.turn', events: [...onTurn], config: { folder: path.resolve(io().cwd, cwd) } },
        })
      : []),
    ...(onFiles
      ? trigger('files', 'Files change', {
          type: 'atrium.files',
          events: ['changed'],
          config: { patterns: [...onFiles] },
        })
      : []),
    ...(onPush !== undefined
      ? trigger('push', 'A provider tells something', {
          ...{ type: 'atrium.push', events: ['pushed'], config: { provider: onPush } },
        })
      : []),
  ];
}
