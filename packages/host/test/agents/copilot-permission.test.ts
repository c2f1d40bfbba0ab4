import type { AgentRunCall, Permit } from '@atrium/core/contracts/agent.js';
import { describe, expect, it } from 'vitest';
import { sessionConfig } from '../../../agents/src/copilot/connection.js';
import { decide } from '../../../agents/src/copilot/permission.js';
import { CopilotPrompt } from '../../../agents/src/copilot/prompt.js';
import { TurnCalls } from '../../../agents/src/copilot/tools.js';
import { FakeTurn } from '../support/fake-turn.js';
import { tempFolder } from '../support/temp-folder.js';

/** A call, and the questions that a person was asked about it. */
function asking(permit: Permit = { kind: 'granted' }) {
  const questions: string[] = [];
  const call: Pick<AgentRunCall, 'confirm'> = {
    confirm: async ({ title }) => {
      questions.push(title);
      return permit;
    },
  };
  return { questions, call: call as AgentRunCall, displayName: 'Fetch' };
}

const fetches = (url: string) => ({ kind: 'url', url, intention: 'Fetch content from this URL.' });

describe('what Copilot asks for', () => {
  it('is put to a person once, and holds for what they agreed to only', async () => {
    const call = asking();
    expect(await decide(fetches('https://a.example/'), call, [])).toEqual({ kind: 'approve-once' });
    expect(await decide(fetches('https://a.example/'), call, [])).toEqual({ kind: 'approve-once' });
    const redirected = await decide(fetches('https://b.example/'), call, []);
    expect(redirected).toMatchObject({ kind: 'reject', feedback: expect.stringContaining('https://a.example/') });
    expect(call.questions).toEqual(['Fetch https://a.example/?\nFetch content from this URL.']);
  });

  it('is refused in the words of the denial', async () => {
    const call = asking({ kind: 'denied', reason: 'not today' });
    const decision = await decide({ kind: 'shell', fullCommandText: 'rm -rf x' }, call, []);
    expect(decision).toEqual({ kind: 'reject', feedback: 'not today' });
    expect(call.questions).toEqual(['Run "rm -rf x"?']);
  });

  it('may be read in the folder without a question, but not through a way out of it', async () => {
    const folder = await tempFolder({ 'a.txt': 'plums' });
    const call = asking({ kind: 'denied', reason: 'mine' });
    const reads = (path: string) => decide({ kind: 'read', path }, call, [folder]);
    expect(await reads(`${folder}/a.txt`)).toEqual({ kind: 'approve-once' });
    expect(await reads(`${folder}/../other.txt`)).toMatchObject({ kind: 'reject' });
    expect(await decide({ kind: 'write', fileName: `${folder}/a.txt` }, call, [folder])).toMatchObject({
      kind: 'reject',
    });
    expect(call.questions.length).toBe(2);
  });

  it('[UP-063] may be read in all folders of the session, and Copilot is told of the further ones', async () => {
    const [folder, further] = [await tempFolder(), await tempFolder({ 'a.txt': 'plums' })];
    const call = asking({ kind: 'denied', reason: 'mine' });
    const reads = (...folders: string[]) => decide({ kind: 'read', path: `${further}/a.txt` }, call, folders);
    expect(await reads(folder, further)).toEqual({ kind: 'approve-once' });
    expect(await reads(folder)).toMatchObject({ kind: 'reject' });
    const side = { options: { home: '/h' }, folder, prompt: new CopilotPrompt(), turn: () => undefined };
    const chosen = { model: undefined, tools: new Map(), hidden: [] };
    expect(sessionConfig(side, { ...chosen, further: [further] })).toMatchObject({
      workingDirectory: folder,
      additionalDirectories: [further],
    });
    expect(sessionConfig(side, { ...chosen, further: [] }).additionalDirectories).toEqual([]);
  });

  it('is named even when its kind is unknown', async () => {
    const call = asking();
    await decide({ kind: 'teleport' }, call, []);
    expect(call.questions).toEqual(['Let Copilot use teleport?']);
  });
});

describe('what nobody can answer for', () => {
  const hook = { toolName: 'bash', toolArgs: { command: 'rm -rf x' } };
  const asked = { kind: 'shell', toolCallId: 'c-1', fullCommandText: 'rm -rf x' };
  const denial = { permissionDecision: 'deny', permissionDecisionReason: expect.any(String) };

  it('[UNI-088] is denied when the question fails: Copilot would take that for no opinion', async () => {
    // A turn in which every question fails.
    const calls = new TurnCalls(new FakeTurn('go'), new Map());
    expect(await calls.check(hook)).toEqual(denial);
    expect(await calls.permit(asked)).toMatchObject({ kind: 'reject' });
  });

  it('[UNI-088] is denied when no turn runs', async () => {
    const side = {
      options: { home: '/nowhere' },
      folder: '/nowhere',
      prompt: new CopilotPrompt(),
      turn: () => undefined,
    };
    const { hooks, onPermissionRequest } = sessionConfig(side, {
      model: undefined,
      tools: new Map(),
      hidden: [],
      further: [],
    });
    expect(await hooks.onPreToolUse(hook, { sessionId: 's' })).toEqual(denial);
    expect(await onPermissionRequest(asked)).toMatchObject({ kind: 'reject' });
  });
});
