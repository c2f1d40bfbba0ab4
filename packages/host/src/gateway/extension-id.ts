/**
 * How a provider is called among the extensions and the customizations of a session. Clients publish customizations of
 * their own there, under ids of their choice: none of those may be one of these.
 */
export const PROVIDER_ID_PREFIX = 'gateway-provider:/';

export function extensionId(providerName: string): string {
  return PROVIDER_ID_PREFIX + providerName;
}

export function isProviderId(id: string): boolean {
  return id.startsWith(PROVIDER_ID_PREFIX);
}
