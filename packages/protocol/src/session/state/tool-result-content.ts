import type { Static } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import { ToolResultEmbeddedResourceContent } from './tool-result-embedded-resource-content.js';
import { ToolResultFileEditContent } from './tool-result-file-edit-content.js';
import { ToolResultResourceContent } from './tool-result-resource-content.js';
import { ToolResultSubagentContent } from './tool-result-subagent-content.js';
import { ToolResultTerminalContent } from './tool-result-terminal-content.js';
import { ToolResultTextContent } from './tool-result-text-content.js';

export const ToolResultContent = OpenUnion(
  'type',
  [
    ToolResultTextContent,
    ToolResultEmbeddedResourceContent,
    ToolResultResourceContent,
    ToolResultFileEditContent,
    ToolResultTerminalContent,
    ToolResultSubagentContent,
  ],
  { $id: 'ToolResultContent', description: "One block of a tool's output." },
);
export type ToolResultContent = Static<typeof ToolResultContent>;
