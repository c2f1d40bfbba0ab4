/** Every program whose sessions can be imported. */
import { claudeCode } from './claude-code.js';
import { codex } from './codex.js';
import { opencode } from './opencode.js';

export const SOURCES = [claudeCode, codex, opencode] as const;
