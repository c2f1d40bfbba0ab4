import type { HostTool } from '@atrium/core/contracts/tool.js';
import { describe, expect, it } from 'vitest';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotRoom, callIn, WAIT_MAX_MS } from '../support/copilot-room.js';
import { textIn } from '../support/session-room.js';
import { echoTool } from '../support/tools.js';

const call = (name: string, input: object = {}) => ({ calls: [{ name, input }] });

describe.skipIf(!hasCopilot)(`tools that Copilot is given${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('are called as tool calls of the host: a person is asked once, by the host alone', async () => {
    const echo = echoTool('notes.add', { confirmation: { title: 'Note it?' }, work: () => 'noted under 7' });
    const room = await CopilotRoom.open([call('notes_add', { text: 'plums' }), { text: ['Noted.'] }], {
      extension: { tools: [echo] },
    });
    const turnId = room.begin('note it');
    const { toolCallId, confirmationTitle } = await room.question(turnId);
    expect(confirmationTitle).toBe('Note it?');
    room.approve(turnId, toolCallId);
    const turn = await room.finished(turnId);
    expect([turn.state, textIn(turn.responseParts), room.questions]).toEqual(['complete', 'Noted.', 1]);
    expect(callIn(turn)).toMatchObject({ toolName: 'notes.add', status: 'completed', success: true });
    expect([echo.runs, room.heard().includes('noted under 7')]).toEqual([[{ text: 'plums' }], true]);
  });

  it('show the model an image that they gave back', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const content = [{ type: 'embeddedResource' as const, contentType: 'image/png', data }];
    const shot: HostTool = {
      ...echoTool('shot'),
      run: async () => ({ success: true, pastTenseMessage: 'Took it', content }),
    };
    const models = [true, false].map((supportsVision) => ({ id: `m-${supportsVision}`, name: 'M', supportsVision }));
    const room = await CopilotRoom.open([call('shot'), { text: ['A pixel.'] }, { text: ['No idea.'] }], {
      extension: { tools: [shot] },
      agent: { models },
    });
    const turn = await room.turn('look');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'A pixel.']);
    expect(room.heard()).toContain(data);
    room.dispatch({ type: 'session/modelChanged', model: { id: 'm-false' } });
    await room.turn('and now?');
    expect(room.heard()).not.toContain(data);
    expect(room.heard()).toContain('[image/png, shown to you if you can see]');
  });

  it('may be those of the active client', async () => {
    const room = await CopilotRoom.open([call('look', { at: 'plums' }), { text: ['Seen.'] }]);
    const tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' as const } }];
    room.dispatch({ type: 'session/activeClientChanged', activeClient: { clientId: 'desk', tools } });
    const turnId = room.begin('look');
    const ready = await room.action(({ type }) => type === 'session/toolCallReady');
    const result = {
      success: true,
      pastTenseMessage: 'Looked',
      content: [{ type: 'text' as const, text: 'six plums' }],
    };
    room.dispatch({ type: 'session/toolCallComplete', turnId, toolCallId: String(ready.toolCallId), result });
    const turn = await room.finished(turnId);
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Seen.']);
    expect(callIn(turn)).toMatchObject({ toolName: 'look', toolClientId: 'desk', status: 'completed' });
    expect(room.heard()).toContain('six plums');
  });

  it('[CUS-030] leave out what a custom agent does not use, and come back with the next agent', async () => {
    let isHidden = (_name: string) => false;
    const room = await CopilotRoom.open([{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }], {
      extension: { tools: [echoTool('first'), echoTool('second')], hidden: () => isHidden },
    });
    await room.turn('say one');
    const all = room.toolNames();
    expect(all).toEqual(expect.arrayContaining(['bash', 'view', 'first', 'second']));
    expect(room.copilot.agent.ownToolNames?.()).toEqual(expect.arrayContaining(['bash', 'view']));
    isHidden = (name) => name !== 'view' && name !== 'first';
    await room.turn('say two');
    expect(room.toolNames().sort()).toEqual(['first', 'view']);
    isHidden = () => false;
    await room.turn('say three');
    expect(room.toolNames().sort()).toEqual(all.sort());
    expect(room.heard()).toContain('say one');
  });

  it('[UNI-087] change between turns, and the conversation goes on', async () => {
    const tools: HostTool[] = [echoTool('first')];
    const room = await CopilotRoom.open([{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }], {
      extension: { tools },
    });
    await room.turn('say one');
    expect(room.toolNames()).toContain('first');
    tools.splice(0, 1, echoTool('second'));
    await room.turn('say two');
    expect(room.toolNames()).toContain('second');
    expect(room.toolNames()).not.toContain('first');
    tools.splice(0, 1);
    await room.turn('say three');
    expect(room.toolNames()).not.toContain('second');
    const known = ['say one', 'One.', 'say two', 'Two.'].filter((words) => room.heard().includes(words));
    expect(known).toEqual(['say one', 'One.', 'say two', 'Two.']);
    expect(room.copilot.agent.abilities.tools).toBe('next-turn');
  });

  it("never take the place of one of Copilot's own", async () => {
    const view = echoTool('view');
    const room = await CopilotRoom.open([call('host_view'), call('view', { path: 'a.txt' }), { text: ['Done.'] }], {
      files: { 'a.txt': 'plums' },
      extension: { tools: [view] },
    });
    await room.turn('look');
    expect(room.toolNames().filter((name) => name.includes('view'))).toEqual(['view', 'host_view']);
    expect([view.runs.length, room.heard().includes('plums')]).toEqual([1, true]);
  });

  it('that fail tell the model so', async () => {
    const broken = echoTool('broken', {
      work: () => {
        throw new Error('the shelf fell down');
      },
    });
    const room = await CopilotRoom.open([call('broken'), { text: ['Oh.'] }], { extension: { tools: [broken] } });
    const turn = await room.turn('go');
    expect([turn.state, callIn(turn)]).toMatchObject(['complete', { status: 'completed', success: false }]);
    expect(room.heard()).toContain('the shelf fell down');
  });

  it('[UNI-092] leave room for what a person says meanwhile, before the next step', async () => {
    const slow = echoTool('slow', { confirmation: { title: 'Go?' } });
    const room = await CopilotRoom.open([call('slow'), { text: ['Pears.'] }], { extension: { tools: [slow] } });
    const turnId = room.begin('go');
    const { toolCallId } = await room.question(turnId);
    const userMessage = { text: 'think of the pears too' };
    room.dispatch({ type: 'session/pendingMessageSet', kind: 'steering', id: 's-1', userMessage });
    room.approve(turnId, toolCallId);
    await room.finished(turnId);
    expect(room.copilot.server.requests.length).toBe(2);
    expect(room.heard()).toContain('think of the pears too');
    expect(room.copilot.agent.abilities.steer).toBe(true);
  });
});
