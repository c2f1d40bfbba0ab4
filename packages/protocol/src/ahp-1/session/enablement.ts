/** Whether a customization is on, judged by its own decisions and by the container around it. */
import type { ChildCustomization, Customization } from './customizations.js';

/**
 * For a plugin or an MCP server, the most specific decision counts; for anything else, its flag. Without either, it is
 * on.
 */
export function isCustomizationEnabled(entry: Customization | ChildCustomization): boolean {
  const decides = entry.type === 'plugin' || entry.type === 'mcpServer' ? entry.enablement?.[0] : entry;
  return decides?.enabled ?? true;
}

/** A child is on when both its container and the child itself are on. */
export function isChildEnabled(container: Customization, child: ChildCustomization): boolean {
  return isCustomizationEnabled(container) && isCustomizationEnabled(child);
}
