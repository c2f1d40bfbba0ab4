/** The parameters of a tool: a JSON Schema of an object. Clients read it, too, and would stumble over any other. */
import { GatewayErrorCode, type ProviderToolDefinition } from '@atrium/protocol/provider';
import { isRecord } from '../../core/util/shape.js';
import { GatewayError } from '../gateway-error.js';

export function checkParameters({ name, parameters }: ProviderToolDefinition): void {
  const { type = 'object', properties = {}, required = [] } = parameters;
  if (type !== 'object') throw invalid(name, 'type', 'must be "object"');
  if (!isRecord(properties) || !Object.values(properties).every(isRecord))
    throw invalid(name, 'properties', 'must be an object of schemas');
  if (!Array.isArray(required) || !required.every((key) => typeof key === 'string'))
    throw invalid(name, 'required', 'must be a list of names');
}

function invalid(tool: string, member: string, problem: string): GatewayError {
  const message = `the tool ${tool} has wrong parameters: "${member}" ${problem}`;
  return new GatewayError(GatewayErrorCode.InvalidJson, message);
}

/** What the tool takes, by name. */
export function propertiesOf({ parameters }: ProviderToolDefinition): Readonly<Record<string, unknown>> {
  return isRecord(parameters.properties) ? parameters.properties : {};
}
