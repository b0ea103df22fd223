/* The words of the file formats. */
#include "sieve/sieve_int.h"

const char *const btz_sieve_kind_words[] = {"attack", "twin", "negative", NULL};
const char *const btz_sieve_paradigm_words[] = {"P1", "P2", "P3", NULL};
const char *const btz_sieve_risk_words[] = {"privacy-leakage",
                                            "information-manipulation",
                                            "service-disruption",
                                            "infrastructure-damage",
                                            "data-tampering",
                                            "credential-leakage",
                                            "code-injection",
                                            "instruction-tampering",
                                            "financial-loss",
                                            "message-hijacking",
                                            NULL};
const char *const btz_sieve_phrasing_words[] = {"direct", "natural", NULL};
const char *const btz_sieve_split_words[] = {"dev", "test", NULL};
const char *const btz_sieve_method_words[] = {"paper", "grouped", NULL};

const char *btz_sieve_kind_name(enum btz_sieve_kind kind)
{
    return kind < BTZ_SIEVE_KINDS ? btz_sieve_kind_words[kind] : NULL;
}

const char *btz_sieve_paradigm_name(enum btz_sieve_paradigm paradigm)
{
    return paradigm < BTZ_SIEVE_PARADIGMS ? btz_sieve_paradigm_words[paradigm] : NULL;
}

const char *btz_sieve_risk_name(enum btz_sieve_risk risk)
{
    return risk < BTZ_SIEVE_RISKS ? btz_sieve_risk_words[risk] : NULL;
}

const char *btz_sieve_phrasing_name(enum btz_sieve_phrasing phrasing)
{
    return phrasing < BTZ_SIEVE_PHRASINGS ? btz_sieve_phrasing_words[phrasing] : NULL;
}

const char *btz_sieve_split_name(enum btz_sieve_split split)
{
    return split < BTZ_SIEVE_SPLITS ? btz_sieve_split_words[split] : NULL;
}

const char *btz_sieve_method_name(enum btz_sieve_method method)
{
    return method < BTZ_SIEVE_METHODS ? btz_sieve_method_words[method] : NULL;
}

static bool find(const char *const *words, struct btz_str word, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (btz_str_is(word, words[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool btz_sieve_paradigm_of(struct btz_str word, enum btz_sieve_paradigm *out)
{
    int index;
    bool found = find(btz_sieve_paradigm_words, word, &index);

    if (found) {
        *out = (enum btz_sieve_paradigm)index;
    }
    return found;
}

bool btz_sieve_risk_of(struct btz_str word, enum btz_sieve_risk *out)
{
    int index;
    bool found = find(btz_sieve_risk_words, word, &index);

    if (found) {
        *out = (enum btz_sieve_risk)index;
    }
    return found;
}
