import { z } from 'zod';
import { LastReadVersion } from '../schema.js';

export const TakeOver = z.object({ version: LastReadVersion }).meta({ id: 'TakeOverAutomation' });
export type TakeOver = z.output<typeof TakeOver>;
