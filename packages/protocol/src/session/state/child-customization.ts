import type { Static } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { AgentCustomization } from './agent-customization.js';
import { HookCustomization } from './hook-customization.js';
import { McpServerCustomization } from './mcp-server-customization.js';
import { PromptCustomization } from './prompt-customization.js';
import { RuleCustomization } from './rule-customization.js';
import { SkillCustomization } from './skill-customization.js';

export const ChildCustomization = OpenUnion(
  'type',
  [
    AgentCustomization,
    SkillCustomization,
    PromptCustomization,
    RuleCustomization,
    HookCustomization,
    McpServerCustomization,
  ],
  { $id: 'ChildCustomization', description: 'Something inside a customization container.' },
);
export type ChildCustomization = Static<typeof ChildCustomization>;
