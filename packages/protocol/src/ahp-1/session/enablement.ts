/** Whether a customization is on: what its own decisions say, and the container around it. */
import type { ChildCustomization, Customization } from './customizations.js';

/** A plugin and an MCP server go by their most specific decision, anything else by its flag; silence means on. */
export function isCustomizationEnabled(entry: Customization | ChildCustomization): boolean {
  const decides = entry.type === 'plugin' || entry.type === 'mcpServer' ? entry.enablement?.[0] : entry;
  return decides?.enabled ?? true;
}

/** A child is on when its container is on, and it is itself. */
export function isChildEnabled(container: Customization, child: ChildCustomization): boolean {
  return isCustomizationEnabled(container) && isCustomizationEnabled(child);
}
