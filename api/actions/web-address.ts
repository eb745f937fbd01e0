import { Text } from '../core/fields.js';

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Where a request goes. Whether it may go there is judged when it is sent: a name can lead anywhere by then. */
export const WebAddress = Text.max(8_192)
  .refine(isWebAddress, 'Takes an http or https address')
  .meta({ example: 'https://example.com/hooks/deploy' });
