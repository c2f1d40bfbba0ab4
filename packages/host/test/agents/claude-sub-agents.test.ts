/** Claude's sub-agents: each has a chat of its own, for those who can see it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { hasClaude, WHY_SKIPPED } from '../support/claude-agent.js';
import { bash, ClaudeFixture, callsOf } from '../support/claude-fixture.js';
import { callsIn, textIn } from '../support/session-fixture.js';

const TASK = { description: 'count plums', prompt: 'count them', subagent_type: 'general-purpose' };

describe.skipIf(!hasClaude)(`Claude's sub-agents${WHY_SKIPPED}`, { timeout: 60_000 }, () => {
  it('[UP-078] [UNI-088] work in chats of their own, where people see and answer what they want to do', async () => {
    const start = callsOf({ name: 'Agent', input: TASK });
    const answers = [start, bash('touch plums'), { text: ['There are plums.'] }, { text: ['Done.'] }];
    const fixture = await ClaudeFixture.open(answers);
    const watcher = await fixture.watcher();
    const turnId = fixture.begin('count');
    const { action } = await watcher.action(fixture.uri, 'session/inputNeededSet');
    const request = action.request as { chat: string; turnId: string; toolCall: { toolCallId: string } };
    const worker = request.chat;
    expect(worker).toContain('ahp-chat://subagent/');
    const { toolCallId } = request.toolCall;
    const answer = { type: 'chat/toolCallConfirmed', turnId: request.turnId, toolCallId };
    watcher.dispatch(worker, { ...answer, approved: true, confirmed: 'user-action' } as never);
    const turn = await fixture.finished(turnId);
    expect(callsIn(turn.responseParts).map(({ toolName, status }) => [toolName, status])).toEqual([
      ['Agent', 'completed'],
    ]);
    expect(textIn(turn.responseParts)).toBe('Done.');
    expect(existsSync(path.join(fixture.folder, 'plums'))).toBe(true);
    const chat = await watcher.state<ChatState>(worker);
    expect(chat).toMatchObject({ title: 'count plums', interactivity: 'read-only', origin: { kind: 'tool' } });
    const [work] = chat.turns;
    expect(work).toMatchObject({ state: 'complete', message: { text: 'count them', origin: { kind: 'agent' } } });
    const calls = callsIn(work?.responseParts as never[]) as { toolName: string; status: string }[];
    expect(calls.map(({ toolName, status }) => [toolName, status])).toEqual([['Bash', 'completed']]);
    expect(JSON.stringify(work?.responseParts)).toContain('There are plums.');
    const { chats, defaultChat = '' } = await watcher.state<SessionState>(fixture.uri);
    expect(chats).toHaveLength(2);
    expect(JSON.stringify((await watcher.state<ChatState>(defaultChat)).turns)).toContain('"type":"subagent"');
  });
});
