/** The tools that the model may call, by whom they come from. */
import type { SessionState, ToolDefinition } from '@atrium/protocol';
import { Section } from './section.js';

export function Tools({ state }: { readonly state: SessionState }) {
  const own = state.serverTools ?? [];
  const lent = state.activeClient?.tools ?? [];
  if (own.length + lent.length === 0) return null;
  return (
    <Section title="Tools" count={own.length + lent.length}>
      <details className="fold">
        <summary>Show them</summary>
        <ul className="entries">
          {[...own, ...lent].map((tool) => (
            <Tool key={tool.name} tool={tool} />
          ))}
        </ul>
      </details>
    </Section>
  );
}

function Tool({ tool }: { readonly tool: ToolDefinition }) {
  return (
    <li>
      <span className="name mono">{tool.name}</span>
      {tool.annotations?.readOnlyHint && <span className="tag">reads only</span>}
      {tool.description && <p className="hint">{tool.description}</p>}
    </li>
  );
}
