/** The inside of a tool call: what went in, what it would change, what came out. */
import type { ToolCallState } from '@atrium/protocol';
import { Words } from '../markdown/markdown.js';
import { Edits } from './edits.js';
import { ToolContent } from './tool-content.js';
import { readableInput } from './tool-words.js';

export function ToolBody({ call }: { readonly call: ToolCallState }) {
  const edits = call.status === 'pending-confirmation' ? call.edits?.items : undefined;
  const input = call.status === 'streaming' ? call.partialInput : call.toolInput;
  const isInputShown = input !== undefined && input !== '' && input !== '{}' && !edits && !isEditable(call);
  return (
    <div className="tool-body">
      {isInputShown && <pre className="tool-input">{readableInput(input)}</pre>}
      {edits && <Edits edits={edits} input={input} />}
      {'content' in call && call.content && <ToolContent content={call.content} input={input} />}
      {call.status === 'completed' && call.error && <p className="problem">{call.error.message}</p>}
      {call.status === 'cancelled' && call.reasonMessage && (
        <p className="hint">
          <Words text={call.reasonMessage} />
        </p>
      )}
    </div>
  );
}

/** Input that can be changed is shown in the field where it is changed. */
function isEditable(call: ToolCallState): boolean {
  return call.status === 'pending-confirmation' && call.editable === true;
}
