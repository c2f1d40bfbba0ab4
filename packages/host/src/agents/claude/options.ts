/** How Claude is started for one turn: what is always the same, and what is not. */
import os from 'node:os';
import path from 'node:path';
import type { AgentTurn } from '../../core/contracts/agent.js';
import { childEnvironment } from '../../core/util/child-environment.js';
import { makeFolder } from '../../core/util/folders.js';
import type { ClaudeSettings } from './claude-agent.js';
import type { Beginning } from './memory.js';
import type { QueryOptions } from './sdk.js';

type Fixed = Pick<
  QueryOptions,
  'settingSources' | 'strictMcpConfig' | 'includePartialMessages' | 'verbatimPrompts' | 'permissionMode' | 'thinking'
>;

/** What is on this machine for Claude in a terminal (settings, servers, mentions of files) is not the host's to use. */
export const FIXED_OPTIONS: Fixed = {
  settingSources: [],
  strictMcpConfig: true,
  includePartialMessages: true,
  verbatimPrompts: true,
  permissionMode: 'default',
  thinking: { type: 'adaptive', display: 'summarized' },
};

const FIXED_ENVIRONMENT = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  // The program is gone when the turn is over, and everything that it left running with it.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // Half an answer is on everybody's screen already; asking for it again in one piece would show it twice, or never.
  CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
};

export function environmentOf({ env, configDir }: ClaudeSettings): Readonly<Record<string, string | undefined>> {
  return {
    ...childEnvironment(),
    ...FIXED_ENVIRONMENT,
    ...(configDir !== undefined && { CLAUDE_CONFIG_DIR: configDir }),
    ...env,
  };
}

/** A session without a folder works in an empty one: Claude may read where it works without asking. */
export async function folderFor(turn: AgentTurn, { configDir }: ClaudeSettings): Promise<string> {
  if (turn.workingDirectory !== undefined) return turn.workingDirectory;
  const folder = path.join(configDir ?? path.join(os.homedir(), '.claude'), 'no-folder');
  await makeFolder(folder);
  return folder;
}

/** Claude's prompt is its own; what the host adds comes behind it, anew in every turn. */
export function promptOf(sections: ReadonlyMap<string, string>): QueryOptions['systemPrompt'] {
  const append = [...sections.values()].filter((text) => text.trim() !== '').join('\n\n');
  return { type: 'preset', preset: 'claude_code', snapshot: false, ...(append !== '' && { append }) };
}

export function conversationOf(beginning: Beginning): Pick<QueryOptions, 'sessionId' | 'resume' | 'resumeSessionAt'> {
  if (beginning.kind === 'new') return { sessionId: beginning.conversation };
  const { conversation, marks } = beginning.memory;
  const last = marks.at(-1)?.[1];
  return { resume: conversation, ...(beginning.isCut && last !== undefined && { resumeSessionAt: last }) };
}
