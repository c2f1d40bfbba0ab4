/** The inside of a tool call that nobody is asked about: what went in, what came out. */
import type { ToolCallState } from '@atrium/protocol';
import { Words } from '../markdown/markdown.js';
import { InputView } from './input-view.js';
import { ToolContent } from './tool-content.js';
import { isErrorTold } from './tool-words.js';

export function ToolBody({ call }: { readonly call: ToolCallState }) {
  const input = call.status === 'streaming' ? call.partialInput : call.toolInput;
  const content = 'content' in call ? call.content : undefined;
  const isDiff = content?.some(({ type }) => type === 'fileEdit');
  return (
    <div className="tool-body">
      {input !== undefined && !isDiff && <InputView input={input} />}
      {content && <ToolContent content={content} input={input} />}
      {call.status === 'completed' && call.error && !isErrorTold(call) && (
        <p className="problem">{call.error.message}</p>
      )}
      {call.status === 'cancelled' && call.reasonMessage && (
        <p className="hint">
          <Words text={call.reasonMessage} />
        </p>
      )}
    </div>
  );
}
