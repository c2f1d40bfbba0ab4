import type { ResponsePart, ToolCallState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { RENDER_FILES_MAX } from '../../src/prompt/limits.js';
import { TurnFacts } from '../../src/prompt/turn-prompt.js';

function call(toolCallId: string, toolInput: string, status: ToolCallState['status'] = 'running'): ResponsePart {
  const toolCall = { toolCallId, toolName: 't', displayName: 'T', invocationMessage: 'T', toolInput, status };
  return { kind: 'toolCall', toolCall: { ...toolCall, confirmed: 'not-needed' } as ToolCallState };
}

const origin = { kind: 'user' as const };
const resource = (uri: string) => ({ type: 'resource' as const, label: uri, uri });

describe('the files that a turn has to do with', () => {
  it('are those attached, and those named in its calls, as paths of this machine', () => {
    const attachments = [resource('file:///srv/a%20b.ts'), resource('virtual:/x'), resource('file://%zz')];
    const facts = new TurnFacts({ text: 'go', origin, attachments }, { uri: 'file:///agent.md' });
    const parts = [
      call('1', '{"path":"src/a.ts","file":"b.ts","pattern":"c.ts"}'),
      call('2', '{"path":5,"file_path":"","uri":"https://example.com/d.ts"}'),
      call('3', 'not json'),
      call('4', '{"path":"half.ts"', 'streaming'),
      call('5', '"src/e.ts"'),
      call('6', '{"path":"src/a.ts"}'),
    ];
    expect(facts.after(parts)).toEqual({
      agent: { uri: 'file:///agent.md' },
      text: 'go',
      files: ['/srv/a b.ts', 'src/a.ts', 'b.ts'],
    });
  });

  it(`grow with the turn, up to the newest ${RENDER_FILES_MAX}`, () => {
    const facts = new TurnFacts({ text: 'go', origin }, undefined);
    const parts = Array.from({ length: RENDER_FILES_MAX + 1 }, (_, index) =>
      call(`${index}`, `{"path":"${index}.ts"}`),
    );
    expect(facts.after(parts.slice(0, 1)).files).toEqual(['0.ts']);
    const { files } = facts.after(parts);
    expect([files.length, files[0], files.at(-1)]).toEqual([RENDER_FILES_MAX, '1.ts', `${RENDER_FILES_MAX}.ts`]);
  });
});
