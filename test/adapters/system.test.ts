import { systemClock } from '../../src/adapters/system/system.js';
import { clockContract } from '../contracts/clock.contract.js';

clockContract('the system clock', () => systemClock);
