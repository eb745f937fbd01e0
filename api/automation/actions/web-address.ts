import { Text } from '../../platform/fields.js';

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Address of a request. Whether it is allowed is checked at sending time, because DNS may change until then. */
export const WebAddress = Text.max(8_192)
  .refine(isWebAddress, 'must be an http or https address')
  .meta({ example: 'https://example.com/hooks/deploy' });
