import { nestSite } from './frameworks/nest.js';
import { siteSuite } from './site-suite.js';

siteSuite(nestSite('Nest 12'));
siteSuite(nestSite('Nest 12 after its own JSON parser', { json: true }));
