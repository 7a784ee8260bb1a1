import express from 'express';
import { expressSite } from './frameworks/express.js';
import { siteSuite } from './site-suite.js';

siteSuite(expressSite('Express 5', express));
