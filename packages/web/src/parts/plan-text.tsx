/** The plan of an agent in plan mode: formatted, or as plain text if formatting would hide a part of it. */
import { asksAboutPlan, PLAN_TOOL, type ToolCallState, toolInputMembers } from '@atrium/protocol/ahp-1';
import { useMemo, useState } from 'react';
import { Markdown } from '../markdown/markdown.js';
import { isShownWhole } from '../markdown/shown-whole.js';
import { VisibleLines } from '../ui/visible-text.js';
import { isReadable, lineCount, ReadBox } from './reading.js';

/** The plan in the input of a call; undefined for other calls, and if the input has more than the plan. */
export function planIn(call: ToolCallState, input: string | undefined): string | undefined {
  if (!isPlanCall(call) || input === undefined) return undefined;
  const [plan, ...others] = toolInputMembers(input);
  return plan?.name === 'plan' && plan.isText && others.length === 0 && isReadable(plan.text) ? plan.text : undefined;
}

function isPlanCall(call: ToolCallState): boolean {
  return call.status === 'pending-confirmation' ? asksAboutPlan(call) : call.toolName === PLAN_TOOL;
}

/** A plan that a person has to read to its end before they accept it. */
export function AskedPlan({ plan }: { readonly plan: string }) {
  return (
    <div className="tool-body">
      <ReadBox label="Plan" lines={lineCount(plan)}>
        <PlanText plan={plan} />
      </ReadBox>
    </div>
  );
}

export function PlanText({ plan }: { readonly plan: string }) {
  const isWhole = useMemo(() => isShownWhole(plan), [plan]);
  const [isSource, setSource] = useState(false);
  return (
    <div className="plan-text">
      {isWhole && !isSource ? <Markdown text={plan} showsAddresses /> : <VisibleLines text={plan} />}
      {isWhole ? (
        <button type="button" className="quiet small" aria-pressed={isSource} onClick={() => setSource(!isSource)}>
          As it is written
        </button>
      ) : (
        <p className="hint">Shown as plain text, because formatting would hide a part of it.</p>
      )}
    </div>
  );
}
